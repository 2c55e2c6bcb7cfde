#pragma once

namespace tessera::machine {

/// Asks Linux for the tile registers of AMX (ARCH_REQ_XCOMP_PERM of XFEATURE_XTILEDATA), which a process may
/// not touch before: its signal frames grow with them. Holds for all threads, those included that start
/// later. May be called again. False where the CPU or the kernel has none, or does not give them. Source:
/// Linux, Documentation/arch/x86/xstate.rst.
bool request_tiles();

}  // namespace tessera::machine
