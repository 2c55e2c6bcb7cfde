#pragma once

#include <cstdint>

namespace tessera::llm {

/// Random numbers for sampling: the same seed gives the same numbers with every compiler, library and
/// machine, which nothing in <random> but its engines promises. Source: O'Neill, "PCG: A Family of Simple
/// Fast Space-Efficient Statistically Good Algorithms for Random Number Generation" (2014), 6.3: PCG-XSH-RR,
/// 64 bits of state, 32 bits out.
class Pcg32 {
public:
    /// Each of the 2^63 streams is a sequence of its own.
    explicit Pcg32(uint64_t seed, uint64_t stream = 0);

    uint32_t next();
    /// A multiple of 2^-53 in [0, 1), of two numbers.
    double next_fraction();

    bool operator==(const Pcg32&) const = default;

private:
    uint64_t state_ = 0;
    uint64_t increment_;  // odd
};

}  // namespace tessera::llm
