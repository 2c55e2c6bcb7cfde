#include "support/huge_pages.h"

#include <cstdint>

#include <gtest/gtest.h>
#include <sys/mman.h>

namespace tessera {
namespace {

TEST(HugePages, MemoryBeginsAtOneIsZeroAndCanBeWritten) {
    for (const size_t size : {size_t{1}, size_t{4097}, kHugePage, 3 * kHugePage + 1}) {
        void* address = map_aligned(size, PROT_READ | PROT_WRITE);
        ASSERT_NE(address, MAP_FAILED);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(address) % kHugePage, 0u);
        want_huge_pages(address, size);
        auto* const bytes = static_cast<unsigned char*>(address);
        EXPECT_EQ(bytes[0], 0);
        bytes[size - 1] = 1;
        EXPECT_EQ(bytes[size - 1], 1);
        EXPECT_EQ(::munmap(address, size), 0);
    }
}

}  // namespace
}  // namespace tessera
