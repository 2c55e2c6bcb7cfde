#pragma once

#include <cstdint>

#include "tessera/ntt/register.h"

namespace tessera::ntt {

/// True if the tests check contractions with so many lanes: those that fill a register. Vectors, storage and
/// bits are tested at every width in every form; contractions of other widths in emitted code
/// (tests/backend), since all of them in all forms took nine minutes to compile.
constexpr bool is_checked(int64_t lanes) {
    return lanes == kRegisterLanes;
}

}  // namespace tessera::ntt
