#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "import/gguf/ggml_type.h"
#include "import/gguf/gguf_metadata.h"
#include "support/mapped_file.h"

namespace tessera::import {

/// One tensor as the file describes it.
struct GgufTensor {
    std::string_view name;
    /// 1 to 4 extents, **innermost first**: a matrix that PyTorch calls [rows, columns] is {columns, rows}
    /// here.
    std::vector<int64_t> dimensions;
    GgmlType type = GgmlType::kF32;
    uint64_t offset = 0;  ///< of the first byte, from the start of the file
    uint64_t bytes = 0;

    int64_t elements() const;
};

/// A GGUF file, version 2 or 3, little-endian: header, metadata, tensors. All are checked on opening, so that
/// every view that this class hands out lies inside the file. The file may be hostile. Source: the GGUF
/// specification of the ggml project (docs/gguf.md).
class GgufFile {
public:
    /// True if the file starts with the magic bytes. @throws Error if it cannot be read.
    static bool is_gguf(const std::filesystem::path& path);

    /// @throws Error naming the offset or the tensor, what was found and what was expected.
    static GgufFile open(const std::filesystem::path& path);

    /// The same from bytes in memory, which must outlive the object; `name` stands for the path in errors.
    static GgufFile parse(std::span<const std::byte> bytes, std::string name);

    const std::string& path() const { return path_; }
    uint32_t version() const { return version_; }
    const GgufMetadata& metadata() const { return metadata_; }
    /// In the order of the file.
    std::span<const GgufTensor> tensors() const { return tensors_; }
    /// Null if there is none of this name.
    const GgufTensor* find_tensor(std::string_view name) const;
    /// Aligned as the file says (`general.alignment`, 32 by default), relative to the start of the mapping.
    std::span<const std::byte> bytes(const GgufTensor& tensor) const;
    /// Gives the pages of `part` back to the system, if the file was opened (MappedFile::release).
    void release(std::span<const std::byte> part) const;

private:
    void read_tensors(GgufCursor& cursor, uint64_t count);
    void place_tensors(size_t header_end);

    MappedFile file_;  // owns the bytes of a file that was opened
    std::span<const std::byte> bytes_;
    std::string path_;
    uint32_t version_ = 0;
    GgufMetadata metadata_;
    std::vector<GgufTensor> tensors_;
    std::unordered_map<std::string_view, size_t> index_;
};

}  // namespace tessera::import
