#pragma once

#include <cstddef>

namespace tessera::llm {

/// Half-open range of bytes [begin, end) in a text.
struct TextRange {
    size_t begin = 0;
    size_t end = 0;

    size_t size() const { return end - begin; }
    bool operator==(const TextRange&) const = default;
};

}  // namespace tessera::llm
