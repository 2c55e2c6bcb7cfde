#pragma once

#include <cmath>

namespace tessera {

/// True if f32 holds the number, rounded: not as infinity, and as 0 only if it is 0.
inline bool fits_f32(double number) {
    const auto nearest = static_cast<float>(number);
    return std::isfinite(nearest) && (nearest != 0 || number == 0);
}

}  // namespace tessera
