#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

namespace tessera {

/// A whole file, mapped read-only; pages are read when they are touched. Move-only: spans and string views
/// into it live as long as the object that owns the mapping, also when that object is moved. A file that
/// another process shortens while it is mapped raises SIGBUS when the lost part is read.
class MappedFile {
public:
    /// @throws Error if `path` is missing, unreadable or not a regular file. An empty file gives an empty
    /// span.
    static MappedFile open(const std::filesystem::path& path);

    struct Range {
        uint64_t offset = 0;
        uint64_t size = 0;
        bool operator==(const Range&) const = default;
    };
    /// These ranges of the file, one behind the other. @pre they lie in it and begin at pages; all but the
    /// last are whole pages @throws Error as open
    static MappedFile open(const std::filesystem::path& path, std::span<const Range> ranges);

    MappedFile() = default;
    MappedFile(MappedFile&& other) noexcept;
    MappedFile& operator=(MappedFile&& other) noexcept;
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;
    ~MappedFile();

    std::span<const std::byte> bytes() const { return bytes_; }
    std::string_view text() const { return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()}; }
    size_t size() const { return bytes_.size(); }

    /// Reads the pages that hold `part`, so that later accesses do not wait, and the calling thread's node
    /// has those that were not in memory. @pre `part` lies in the file
    void fetch(std::span<const std::byte> part) const;
    /// Gives back the memory of the pages that hold `part`. They are read from the file again when they are
    /// touched again, so this changes nothing but the resident set of the process.
    /// @pre `part` lies in the file
    void release(std::span<const std::byte> part) const;

private:
    void advise(std::span<const std::byte> part, int advice) const;

    std::span<const std::byte> bytes_;
};

}  // namespace tessera
