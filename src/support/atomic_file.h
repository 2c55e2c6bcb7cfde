#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "support/output_place.h"

namespace tessera {

/// A file that appears whole or not at all: it is written beside `path` and takes that name, and the
/// permissions of an older file, at `commit`. Without a commit the destructor removes the new file and an
/// older file stays as it was. The next process clears files that a killed process left beside `path`.
///
/// Links are followed. A pipe, a device or an open descriptor (/dev/stdout) stays what it is: it is written
/// as the bytes come, or at `commit` where they come in any order.
///
/// Every function throws Error, with the path, where the disk is full or nothing may be written.
class AtomicFile {
public:
    enum class Order {
        kForward,  ///< write_at is not called
        kAny,
    };

    explicit AtomicFile(const std::filesystem::path& path, Order order = Order::kForward);
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;
    ~AtomicFile();

    void write(std::span<const std::byte> bytes);
    void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
    /// Overwrites bytes that have been written. @pre offset + bytes.size() <= size(), Order::kAny
    void write_at(uint64_t offset, std::span<const std::byte> bytes);
    uint64_t size() const { return size_; }

    void commit();

private:
    [[noreturn]] void fail(std::string_view action) const;
    void open_beside();
    void open_aside();
    int open_target() const;
    void put(uint64_t offset, std::span<const std::byte> bytes);
    void flush();
    void take_name();
    void copy_to_target();

    std::filesystem::path path_;
    Order order_;
    OutputPlace place_;
    bool is_direct_ = false;           ///< `descriptor_` is the target itself
    std::filesystem::path temporary_;  ///< that takes the name of the target; empty: none does
    int descriptor_ = -1;
    uint64_t size_ = 0;
    std::vector<std::byte> pending_;  ///< the last bytes, not yet with the system
};

/// Removes from `folder` the partial files of killed writers.
void remove_parts(const std::filesystem::path& folder);

/// The whole file at once.
void write_file(const std::filesystem::path& path, std::string_view content);

}  // namespace tessera
