#pragma once

#include <cstdint>

#include "tessera/ntt/register.h"

namespace tessera::ntt {

/// Whether this form of the tests checks contractions with so many lanes. The plain form checks up to two
/// registers beside each other, and less than one; the others check the width that fills a register. Vectors,
/// storage and bits are tested at every width in every form: all contractions at all widths in all forms took
/// nine minutes to compile.
constexpr bool is_checked(int64_t lanes) {
    constexpr int kPlainLanes = 4;
    return kRegisterLanes == kPlainLanes ? lanes <= 2 * kPlainLanes : lanes == kRegisterLanes;
}

}  // namespace tessera::ntt
