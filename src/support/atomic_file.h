#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

namespace tessera {

/// A file that appears whole or not at all: it is written beside `path` and takes that name at `commit`.
/// Without a commit the destructor removes what was written and an older file stays as it was. Every function
/// throws Error, with the path, where the disk is full or the folder may not be written.
class AtomicFile {
public:
    explicit AtomicFile(std::filesystem::path path);
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;
    ~AtomicFile();

    void write(std::span<const std::byte> bytes);
    void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
    /// Overwrites bytes that have been written. @pre offset + bytes.size() <= size()
    void write_at(uint64_t offset, std::span<const std::byte> bytes);
    uint64_t size() const { return size_; }

    void commit();

private:
    [[noreturn]] void fail(std::string_view action) const;
    void put(uint64_t offset, std::span<const std::byte> bytes);
    void flush();

    std::filesystem::path path_;
    std::filesystem::path temporary_;
    int descriptor_ = -1;
    uint64_t size_ = 0;
    std::vector<std::byte> pending_;  ///< the last bytes, not yet with the system
};

/// The whole file at once.
void write_file(const std::filesystem::path& path, std::string_view content);

}  // namespace tessera
