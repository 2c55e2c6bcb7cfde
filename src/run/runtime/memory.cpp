#include "run/runtime/memory.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <sys/mman.h>

#include "support/error.h"
#include "support/huge_pages.h"

namespace tessera::runtime {
namespace {

/// A cache is read once a token, and a miss of the TLB for every 4 KiB of it costs as much as the memory
/// does.
void* map(size_t bytes) {
    constexpr int kProtection = PROT_READ | PROT_WRITE;
    if (bytes < kHugePage)
        return ::mmap(nullptr, bytes, kProtection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    void* address = map_aligned(bytes, kProtection);
    if (address != MAP_FAILED) want_huge_pages(address, bytes);
    return address;
}

}  // namespace

AnonymousMemory::AnonymousMemory(size_t bytes, const std::string& where, const std::string& what) {
    if (bytes == 0) return;
    void* address = map(bytes);
    if (address == MAP_FAILED)
        throw Error(where, what, fmt::format("needs {} MiB of memory: {}", bytes >> 20, std::strerror(errno)),
                    "a smaller --context needs less");
    bytes_ = {static_cast<std::byte*>(address), bytes};
}

AnonymousMemory::AnonymousMemory(AnonymousMemory&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})) {}

AnonymousMemory& AnonymousMemory::operator=(AnonymousMemory&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
}

AnonymousMemory::~AnonymousMemory() {
    if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

void AnonymousMemory::clear() {
    if (bytes_.empty()) return;
    // Private anonymous pages read as zero after this (madvise(2)).
    const int failed = ::madvise(bytes_.data(), bytes_.size(), MADV_DONTNEED);
    TESSERA_CHECK(failed == 0, "errno {}", errno);
}

}  // namespace tessera::runtime
