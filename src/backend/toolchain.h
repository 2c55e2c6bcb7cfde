#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "backend/code.h"
#include "machine/machine.h"

namespace tessera::backend {

struct ToolchainOptions {
    machine::CompilerSettings compiler;       ///< of the machine: which compiler, which features
    machine::Isa isa = machine::kHostIsa;     ///< of the machine; another than the host's is cross-compiled
    std::filesystem::path include_directory;  ///< holds tessera/ntt/
    std::filesystem::path cache_directory;    ///< compiled code by content; created if missing
    std::string search_path;  ///< folders between colons, where a compiler without a path is looked for
    std::function<void()> while_waiting = {};  ///< called about ten times a second while compilers run
};

struct SharedObject {
    std::string bytes;       ///< of the file that dlopen takes
    double cpu_seconds = 0;  ///< that compilers took; 0 from the cache
    bool was_cached = false;
};

/// Digest of all that compiled code depends on besides its text: NTT's headers, compiler and flags.
/// @throws Error as compile_shared_object where there is no compiler
std::string toolchain_digest(const ToolchainOptions& options);

/// Compiles the units side by side, as many as there are processors, and links them. Equal code, headers,
/// compiler and flags give the same bytes, from the cache from the second time on; processes may share the
/// cache.
/// @throws Error with the compiler's first complaints and the path of the kept source; without a compiler,
/// with the Debian package that is missing.
SharedObject compile_shared_object(const Code& code, const ToolchainOptions& options);

}  // namespace tessera::backend
