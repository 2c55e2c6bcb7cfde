#pragma once

#include <cstdint>
#include <string>

namespace tessera::backend {

enum class Language : uint8_t {
    kCpp,  ///< C++20 over NTT and the standard library
    kC,    ///< C99 over the C library
};

/// The text of a program. Compiled as it stands it is whole; with TESSERA_UNIT defined
/// as 0 .. units - 1 it is one of that many translation units, which are together the same, so that several
/// compilers share it.
struct Code {
    std::string text;
    int64_t units = 1;
    Language language = Language::kCpp;
    bool operator==(const Code&) const = default;
};

}  // namespace tessera::backend
