#include "machine/tile_permission.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace tessera::machine {

bool request_tiles() {
#if defined(__x86_64__)
    constexpr int kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM, newer than the headers of some systems
    constexpr int kTileData = 18;               // XFEATURE_XTILEDATA
    return ::syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
    return false;
#endif
}

}  // namespace tessera::machine
