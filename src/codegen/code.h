#pragma once

#include <cstdint>
#include <string>

namespace tessera::codegen {

/// C++20 text over NTT and the standard library. Compiled as it stands it is whole; with TESSERA_UNIT defined
/// as 0 .. units - 1 it is one of that many translation units, which are together the same, so that several
/// compilers share it.
struct Code {
    std::string text;
    int64_t units = 1;
    bool operator==(const Code&) const = default;
};

}  // namespace tessera::codegen
