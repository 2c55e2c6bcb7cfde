#pragma once

#include <cstddef>

namespace tessera {

/// Larger than the pages of every level on the machines that are known; less is not worth aligning.
inline constexpr size_t kHugePage = size_t{2} << 20;

/// Private anonymous memory of the given protection (mmap(2)) that begins at a multiple of kHugePage, so that
/// a page of that size is one entry of the page table. want_huge_pages asks the system for such pages.
/// MAP_FAILED and errno as mmap.
void* map_aligned(size_t size, int protection);

/// A hint to the system: without it, or where it has none, the pages are small.
void want_huge_pages(void* address, size_t size);

}  // namespace tessera
