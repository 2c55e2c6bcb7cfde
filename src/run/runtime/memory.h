#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace tessera::runtime {

/// Zeroed memory from the operating system, aligned to a page (so to 64 bytes). A page costs nothing before
/// it is touched: a cache that is mostly empty is mostly not there.
class AnonymousMemory {
public:
    AnonymousMemory() = default;
    /// @throws Error naming `what` if there is not so much address space.
    AnonymousMemory(size_t bytes, const std::string& where, const std::string& what);
    AnonymousMemory(AnonymousMemory&& other) noexcept;
    AnonymousMemory& operator=(AnonymousMemory&& other) noexcept;
    AnonymousMemory(const AnonymousMemory&) = delete;
    AnonymousMemory& operator=(const AnonymousMemory&) = delete;
    ~AnonymousMemory();

    std::span<std::byte> bytes() { return bytes_; }
    std::span<const std::byte> bytes() const { return bytes_; }
    /// All zero again; gives the pages back.
    void clear();

private:
    std::span<std::byte> bytes_;
};

}  // namespace tessera::runtime
