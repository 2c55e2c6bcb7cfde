#include "support/huge_pages.h"

#include <cstdint>

#include <sys/mman.h>
#include <unistd.h>

namespace tessera {

void* map_aligned(size_t size, int protection) {
    const size_t reserved = size + kHugePage;
    void* address = ::mmap(nullptr, reserved, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address == MAP_FAILED) return address;
    auto* const begin = static_cast<std::byte*>(address);
    const size_t before = (kHugePage - reinterpret_cast<uintptr_t>(begin) % kHugePage) % kHugePage;
    const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    const size_t end = before + (size + page - 1) / page * page;
    if (before > 0) ::munmap(begin, before);
    if (end < reserved) ::munmap(begin + end, reserved - end);
    return begin + before;
}

void want_huge_pages(void* address, size_t size) {
    (void)::madvise(address, size, MADV_HUGEPAGE);
}

}  // namespace tessera
