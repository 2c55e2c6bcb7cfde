#pragma once

#include <cstdio>
#include <filesystem>
#include <string>

namespace tessera::cli {

/// What the shell and the installation tell the tool, read once by `main`. Nothing else in Tessera reads the
/// environment; whatever a module needs of it is an argument.
struct Environment {
    std::string search_path;  ///< PATH, for the C++ compiler
    std::filesystem::path
        cache_directory;  ///< XDG_CACHE_HOME/tessera or ~/.cache/tessera; empty without either
    std::filesystem::path
        include_directory;          ///< holds tessera/ntt/: of the installation, else of the source tree
    std::FILE* terminal = nullptr;  ///< stderr where it is a terminal: the place for progress

    /// `cache_directory`.
    /// @throws Error where neither XDG_CACHE_HOME nor a home directory is known.
    const std::filesystem::path& cache() const;
};

/// The installation is found beside the running executable.
Environment read_environment();

}  // namespace tessera::cli
