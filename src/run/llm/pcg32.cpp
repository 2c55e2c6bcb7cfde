#include "run/llm/pcg32.h"

#include <bit>

namespace tessera::llm {

Pcg32::Pcg32(uint64_t seed, uint64_t stream) : increment_((stream << 1) | 1) {
    next();
    state_ += seed;
    next();
}

uint32_t Pcg32::next() {
    const uint64_t old = state_;
    state_ = old * 6364136223846793005u + increment_;
    const auto shifted = static_cast<uint32_t>(((old >> 18) ^ old) >> 27);
    return std::rotr(shifted, static_cast<int>(old >> 59));
}

double Pcg32::next_fraction() {
    const uint64_t high = next() >> 5;  // 27 bits
    const uint64_t low = next() >> 6;   // 26 bits
    return static_cast<double>((high << 26) | low) * 0x1p-53;
}

}  // namespace tessera::llm
