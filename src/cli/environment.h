#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "cli/cache_folders.h"

namespace tessera::cli {

/// The settings of the shell and the installation, read once by `main`. Nothing else in Tessera reads the
/// environment; modules get its values as arguments.
struct Environment {
    std::string search_path;              ///< PATH, for the C++ compiler
    std::shared_ptr<CacheFolders> cache;  ///< of XDG_CACHE_HOME/tessera or ~/.cache/tessera
    std::filesystem::path
        include_directory;            ///< holds tessera/ntt/: of the installation, else of the source tree
    bool is_launched_by_mpi = false;  ///< Open MPI's mpirun has started this process as one of several
    std::FILE* terminal = nullptr;    ///< stderr where it is a terminal: the place for progress
};

/// The installation is found beside the running executable.
Environment read_environment();

}  // namespace tessera::cli
