#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::llm {

/// Finds which of many texts begins at a place: the longest one.
class PatternSet {
public:
    PatternSet() = default;
    /// Patterns are numbered as given; empty ones are never found.
    explicit PatternSet(const std::vector<std::string>& patterns);

    struct Match {
        size_t pattern;
        size_t size;  ///< in bytes
    };
    std::optional<Match> longest_prefix(std::string_view text) const;

private:
    struct Entry {
        std::string text;
        size_t number;
    };
    std::vector<Entry> sorted_;
    std::array<bool, 256> first_byte_{};
};

}  // namespace tessera::llm
