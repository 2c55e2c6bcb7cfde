#pragma once

#include <cstdlib>
#include <string>

namespace tessera {

/// Where tests look for a C++ compiler: PATH, in front of which the presets of CTest put tests/compiler/c++.
inline std::string compiler_search_path() {
    const char* path = std::getenv("PATH");
    return path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path;
}

}  // namespace tessera
