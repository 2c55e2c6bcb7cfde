#pragma once

#include "tessera/ntt/emulated_tiles.h"

// The matrix unit of the machine. Unless the flags name one, it is emulated, with the same tiles, the same
// order of operations and the same rounding, so that code for tiles runs everywhere.
#if (defined(__AMX_TILE__) && defined(__AMX_BF16__) && defined(__AMX_INT8__)) || \
    (defined(__AMXTILE__) && defined(__AMXBF16__) && defined(__AMXINT8__))
#include "tessera/ntt/amx.h"
#else
namespace tessera::ntt {
using TileUnit = EmulatedTiles;
}  // namespace tessera::ntt
#endif
