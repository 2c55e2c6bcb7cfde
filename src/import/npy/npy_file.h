#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "import/npy/npy_header.h"
#include "ir/element_type.h"
#include "support/mapped_file.h"

namespace tessera::import {

/// How a NumPy file spells the type: "<f4". BF16, which NumPy lacks, is kept as F32: values are rounded to it
/// when they are read. Empty for types of less than a byte.
std::string_view npy_type(ElementType type);

/// Numbers in the order of C, little-endian, as NumPy holds them in memory that somebody else keeps.
struct NpyArray {
    std::string where;  ///< the file or the caller, for errors
    std::string type;   ///< "<f4"
    std::vector<int64_t> shape;
    std::span<const std::byte> bytes;  ///< of any alignment

    /// The contents as dense elements of the type.
    /// @throws Error naming `where` if they are of another one. @pre npy_type(type) is not empty
    std::vector<std::byte> elements(ElementType type) const;
    /// @throws Error as `elements` does
    void expect_type(ElementType type, const std::string& entity) const;
};

/// The array of a NumPy file in memory, as long as that is kept: numbers in the order of C, little-endian.
/// The file may be hostile.
/// @throws Error naming `where`: no NumPy file, damaged, of a type or order that is not read.
NpyArray npy_array(std::span<const std::byte> file, const std::string& where);

/// The same of a file that is mapped.
class NpyFile {
public:
    /// @throws Error as npy_array
    static NpyFile open(const std::filesystem::path& path);

    const std::string& where() const { return array_.where; }
    const std::string& type() const { return array_.type; }
    const std::vector<int64_t>& shape() const { return array_.shape; }
    /// As they lie in the file, of any alignment.
    std::span<const std::byte> bytes() const { return array_.bytes; }

    /// As long as the file is kept.
    const NpyArray& array() const { return array_; }
    /// NpyArray::elements
    std::vector<std::byte> elements(ElementType type) const { return array_.elements(type); }

private:
    MappedFile file_;
    NpyArray array_;
};

/// The bytes that an array of NumPy has for dense elements of this type. @pre npy_type(type) is not empty
std::vector<std::byte> npy_bytes(ElementType type, std::span<const std::byte> elements);

/// A file of dense elements of this type; it appears whole or not at all.
/// @pre npy_type(type) is not empty, the bytes are those of the shape
void write_npy(const std::filesystem::path& path, ElementType type, const std::vector<int64_t>& shape,
               std::span<const std::byte> elements);

}  // namespace tessera::import
