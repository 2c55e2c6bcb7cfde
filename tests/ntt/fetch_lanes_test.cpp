// The lines prefetched at a long distance: where a block reads a piece of each row, the lines in the order of
// the addresses; elsewhere those that it reads. Fetching itself cannot be seen.

#include "tessera/ntt/fetch_lanes.h"

#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace tessera::ntt {
namespace {

constexpr int64_t kColumns = 128, kDepth = 64;
bf16 kNumbers[2 * kColumns * kDepth];  // none is read
const bf16* const kData = kNumbers;
constexpr int64_t kBytes = kColumns * kDepth * int64_t{sizeof(bf16)};

/// The offsets that all blocks fetch, one block after the other.
template <int NR, int L, class B>
std::vector<int64_t> fetched(const B& b, int64_t begin = 0) {
    using Fetch = detail::FetchLanes<detail::kFarAhead, NR, L, B>;
    std::vector<int64_t> found;
    for (int64_t group = 0; group < kColumns / L; group += NR) {
        const Fetch fetch(b, group, kColumns, begin, kDepth);
        for (int64_t step = begin; step < kDepth; ++step)
            for (int j = 0; j < NR; ++j)
                if (Fetch::fetches(j, step))
                    found.push_back(fetch.in_order(j, step) - reinterpret_cast<const char*>(kData));
    }
    return found;
}

std::vector<int64_t> all_lines(int64_t begin = 0) {
    std::vector<int64_t> lines;
    for (int64_t at = begin; at < kBytes; at += detail::kLineBytes) lines.push_back(at);
    return lines;
}

/// The lines in which they lie.
std::vector<int64_t> lines_of(std::vector<int64_t> addresses) {
    for (int64_t& at : addresses) at = at / detail::kLineBytes * detail::kLineBytes;
    return addresses;
}

TEST(FetchLanes, RowsAreFetchedInTheOrderOfAddresses) {
    const auto b = lanes(kData, int64_t{8}, Int<kColumns>{});
    EXPECT_EQ(lines_of(fetched<4, 8>(b)), all_lines());
    EXPECT_EQ(lines_of(fetched<8, 8>(b)), all_lines());
    EXPECT_EQ(lines_of(fetched<4, 16>(lanes(kData, int64_t{16}, Int<kColumns>{}))), all_lines());
}

TEST(FetchLanes, SoAreRowsFromSomeKOn) {
    const auto b = lanes(kData, int64_t{8}, Int<kColumns>{});
    EXPECT_EQ(lines_of(fetched<4, 8>(b, 16)), all_lines(16 * kColumns * int64_t{sizeof(bf16)}));
}

TEST(FetchLanes, SoArePagesOfRows) {
    constexpr int64_t kPage = 16;
    const std::vector<int64_t> pages = {0, 1, 2, 3};
    const auto b = lanes_at([&](int64_t group, int64_t k) {
        return kData + (pages[static_cast<size_t>(k / kPage)] * kPage + k % kPage) * kColumns + group * 8;
    });
    EXPECT_EQ(lines_of(fetched<4, 8>(b)), all_lines());
}

TEST(FetchLanes, GroupsThatLieApartFetchWhatTheyRead) {
    const auto b = lanes(kData, Int<kDepth * 8>{}, Int<8>{});
    EXPECT_EQ(lines_of(fetched<1, 8>(b)), all_lines());
    const std::vector<int64_t> several = lines_of(fetched<4, 8>(b));
    const std::vector<int64_t> all = all_lines();
    EXPECT_EQ(several.size(), all.size());
    EXPECT_EQ(std::set(several.begin(), several.end()), std::set(all.begin(), all.end()));
}

TEST(FetchLanes, RowsThatAreLongerThanAllColumnsFetchWhatTheyRead) {
    using B = decltype(lanes(kData, int64_t{8}, int64_t{2 * kColumns}));
    const B b = lanes(kData, int64_t{8}, int64_t{2 * kColumns});
    const detail::FetchLanes<detail::kFarAhead, 4, 8, B> fetch(b, 4, kColumns, 0, kDepth);
    EXPECT_EQ(fetch.in_order(1, 3), reinterpret_cast<const char*>(b.address(5, 3)));
}

}  // namespace
}  // namespace tessera::ntt
