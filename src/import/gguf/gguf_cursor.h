#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "support/error.h"

namespace tessera::import {

static_assert(std::endian::native == std::endian::little, "GGUF values are read as they lie in memory");

/// Reads little-endian values from front to back, each only after the check that it lies inside the bytes.
/// Errors name the file with the offset, the thing that was being read (`what`) and how much is missing.
class GgufCursor {
public:
    GgufCursor(std::span<const std::byte> bytes, std::string file) : bytes_(bytes), file_(std::move(file)) {}

    size_t offset() const { return offset_; }
    size_t remaining() const { return bytes_.size() - offset_; }

    template <typename T>
    requires std::integral<T> || std::floating_point<T> T read(std::string_view what) {
        T value;
        std::memcpy(&value, take(sizeof(T), what).data(), sizeof(T));
        return value;
    }

    /// A length in 8 bytes, then so many bytes without terminator.
    std::string_view read_string(std::string_view what) {
        const auto taken = take(read<uint64_t>(what), what);
        return {reinterpret_cast<const char*>(taken.data()), taken.size()};
    }

    std::span<const std::byte> take(uint64_t size, std::string_view what) {
        if (size > remaining())
            fail(what, fmt::format("needs {} bytes, but {} are left: the file is cut off or damaged", size,
                                   remaining()));
        const auto taken = bytes_.subspan(offset_, size);
        offset_ += size;
        return taken;
    }

    /// The bytes read from `begin` on.
    std::span<const std::byte> since(size_t begin) const { return bytes_.subspan(begin, offset_ - begin); }

    /// Refuses a count whose elements, of at least `least_bytes` each, cannot be in the rest of the file, so
    /// that nothing is allocated for a false count.
    void check_count(uint64_t count, uint64_t least_bytes, std::string_view what) const {
        if (count > remaining() / least_bytes)
            fail(what,
                 fmt::format("claims {} elements, but {} bytes are left: the file is cut off or damaged",
                             count, remaining()));
    }

    [[noreturn]] void fail(std::string_view what, std::string problem) const {
        throw Error(fmt::format("{}@{}", file_, offset_), std::string(what), std::move(problem));
    }

private:
    std::span<const std::byte> bytes_;
    std::string file_;
    size_t offset_ = 0;
};

}  // namespace tessera::import
