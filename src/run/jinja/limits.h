#pragma once

#include <cstdint>

namespace tessera::jinja {

/// The limits of rendering. Templates come with checkpoints, which cannot be trusted.
struct Limits {
    int64_t steps = 20'000'000;  ///< evaluated nodes, visited items, and 64 bytes of text each
    int64_t allocated_bytes = int64_t{1} << 28;  ///< of all values that are made, together
    int64_t output_bytes = int64_t{1} << 26;     ///< of the rendered text
    int64_t depth = 100;                         ///< of values inside each other
    int64_t nesting = 1000;                      ///< of node evaluations inside each other

    bool operator==(const Limits&) const = default;
};

}  // namespace tessera::jinja
