#include <algorithm>
#include <functional>

#include "run/llm/bpe.h"
#include "support/error.h"

namespace tessera::llm {

ScoreRanks rank_scores(std::span<const float> scores, const std::vector<bool>& may_be_made) {
    TESSERA_CHECK(scores.size() == may_be_made.size(), "{} scores for {} tokens", scores.size(),
                  may_be_made.size());
    std::vector<float> sorted(scores.begin(), scores.end());
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());

    ScoreRanks result;
    result.ranks.assign(scores.size(), ScoreRanks::kNever);
    for (size_t id = 0; id < scores.size(); ++id) {
        if (!may_be_made[id]) continue;
        const auto place = std::lower_bound(sorted.begin(), sorted.end(), scores[id], std::greater<>());
        result.ranks[id] = static_cast<uint32_t>(place - sorted.begin());
    }
    return result;
}

}  // namespace tessera::llm
