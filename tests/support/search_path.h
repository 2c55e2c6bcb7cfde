#pragma once

#include <cstdlib>
#include <string>

namespace tessera {

/// The path of the C++ compiler of tests: PATH, to which the presets of CTest prepend tests/compiler/c++.
inline std::string compiler_search_path() {
    const char* path = std::getenv("PATH");
    return path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path;
}

}  // namespace tessera
