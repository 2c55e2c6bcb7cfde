#include "run/llm/kept_prefixes.h"

#include <algorithm>

#include "support/error.h"

namespace tessera::llm {
namespace {

size_t common_prefix(std::span<const TokenId> a, std::span<const TokenId> b) {
    return static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

}  // namespace

KeptPrefixes::~KeptPrefixes() {
    while (!kept_.empty()) drop_oldest();
}

void KeptPrefixes::keep(SequenceId sequence, std::vector<TokenId> ids) {
    TESSERA_CHECK(!ids.empty() && static_cast<int64_t>(ids.size()) == session_.length(sequence), "{} ids",
                  ids.size());
    kept_.push_back({sequence, std::move(ids)});
}

SequenceId KeptPrefixes::take(std::span<const TokenId> prompt) {
    auto best = kept_.end();
    // The last token of the prompt is computed in any case: the next one follows from its logits.
    const std::span<const TokenId> reusable = prompt.first(prompt.size() - 1);
    auto most = static_cast<size_t>(session_.page_size()) - 1;
    for (auto kept = kept_.begin(); kept != kept_.end(); ++kept)
        // A recurrence goes on behind the last token alone.
        if (const size_t common = common_prefix(reusable, kept->ids);
            common > most && (!session_.has_recurrences() || common == kept->ids.size())) {
            best = kept;
            most = common;
        }
    if (best == kept_.end()) return {};
    const SequenceId kept = best->sequence;
    const auto common = static_cast<int64_t>(most), page = session_.page_size();
    if (best->ids.size() > most && session_.open_sequences() < session_.most_open()) {
        kept_.splice(kept_.end(), kept_, best);
        return session_.fork(kept, common / page * page);
    }
    kept_.erase(best);
    session_.shorten(kept, session_.own_length(kept, common));
    return kept;
}

void KeptPrefixes::drop_oldest() {
    TESSERA_CHECK(!kept_.empty());
    session_.close(kept_.front().sequence);
    kept_.pop_front();
}

}  // namespace tessera::llm
