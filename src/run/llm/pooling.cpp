#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/error.h"
#include "tessera/embedding.h"

namespace tessera {
namespace {

// The names of sentence-transformers, but for "lasttoken".
constexpr std::array<std::pair<std::string_view, Pooling>, 6> kPoolings = {
    {{"mean", Pooling::kMean},
     {"last", Pooling::kLast},
     {"cls", Pooling::kFirst},
     {"max", Pooling::kMax},
     {"mean_sqrt_len", Pooling::kMeanSqrt},
     {"weightedmean", Pooling::kWeightedMean}}};

}  // namespace

std::optional<Pooling> pooling_of(std::string_view name) {
    for (const auto& [known, pooling] : kPoolings)
        if (known == name) return pooling;
    return std::nullopt;
}

std::string_view name(Pooling pooling) {
    for (const auto& [name, known] : kPoolings)
        if (known == pooling) return name;
    TESSERA_CHECK(false, "pooling {}", static_cast<int>(pooling));
    return {};
}

std::vector<std::string> pooling_names() {
    std::vector<std::string> names;
    for (const auto& [name, pooling] : kPoolings) names.emplace_back(name);
    return names;
}

}  // namespace tessera
