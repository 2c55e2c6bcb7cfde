#include "run/llm/pattern_set.h"

#include <algorithm>
#include <cstdint>

namespace tessera::llm {

PatternSet::PatternSet(const std::vector<std::string>& patterns) {
    for (size_t i = 0; i < patterns.size(); ++i) {
        if (patterns[i].empty()) continue;
        sorted_.push_back({patterns[i], i});
        first_byte_[static_cast<uint8_t>(patterns[i].front())] = true;
    }
    std::stable_sort(sorted_.begin(), sorted_.end(),
                     [](const Entry& a, const Entry& b) { return a.text < b.text; });
}

std::optional<PatternSet::Match> PatternSet::longest_prefix(std::string_view text) const {
    if (text.empty() || !first_byte_[static_cast<uint8_t>(text.front())]) return std::nullopt;
    // The patterns that agree with the first `size` bytes of the text are neighbours in the sorted list; of
    // those the one that ends here comes first.
    std::optional<Match> longest;
    auto begin = sorted_.begin();
    auto end = sorted_.end();
    for (size_t size = 0; begin != end; ++size) {
        if (begin->text.size() == size && size > 0) longest = Match{begin->number, size};
        if (size == text.size()) break;
        const auto byte = static_cast<uint8_t>(text[size]);
        const auto byte_at = [size](const Entry& entry) {
            return entry.text.size() > size ? static_cast<int>(static_cast<uint8_t>(entry.text[size])) : -1;
        };
        begin = std::partition_point(begin, end, [&](const Entry& entry) { return byte_at(entry) < byte; });
        end = std::partition_point(begin, end, [&](const Entry& entry) { return byte_at(entry) == byte; });
    }
    return longest;
}

}  // namespace tessera::llm
