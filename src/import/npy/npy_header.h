#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::import {

/// The part of a NumPy file (.npy) before the data: magic, version, and a dictionary as Python writes it.
/// Source: NumPy's documentation of the format, numpy.lib.format.
struct NpyHeader {
    std::string type;  ///< "<f4": byte order, kind, bytes of an element
    bool is_fortran = false;
    std::vector<int64_t> shape;
    size_t bytes = 0;  ///< of magic, version and dictionary together: where the data begin
    bool operator==(const NpyHeader&) const = default;
};

/// The header of a file of version 1.0, 2.0 or 3.0. The file may be hostile.
/// @throws Error naming `where` and what is wrong with it.
NpyHeader parse_npy_header(std::string_view file, const std::string& where);

/// The bytes before the data of a file of version 1.0, a multiple of 64. Uses the header's type and shape;
/// the order is that of C.
std::string print_npy_header(const NpyHeader& header);

}  // namespace tessera::import
