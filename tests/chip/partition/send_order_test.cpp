#include "chip/partition/send_order.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

namespace tessera::partition {
namespace {

TEST(SendOrder, SpreadsNeighboursApart) {
    for (const size_t count : {size_t{1}, size_t{12}, size_t{1000}}) {
        const std::vector<uint64_t> keys = scattered(count);
        EXPECT_EQ(std::set<uint64_t>(keys.begin(), keys.end()).size(), count);
        // In any part of them in their order, no quarter has much more than a quarter.
        std::vector<size_t> order(count);
        for (size_t i = 0; i < count; ++i) order[i] = i;
        std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return keys[a] < keys[b]; });
        std::vector<size_t> seen(4, 0);
        for (size_t i = 0; i < count; ++i) {
            ++seen[order[i] * 4 / count];
            for (const size_t of_quarter : seen) EXPECT_LE(of_quarter, (i + 1) / 4 + 4);
        }
    }
}

TEST(SendOrder, TransfersKeepTheirContents) {
    MadeOperator made;
    auto& transfers = made.program.transfers[static_cast<size_t>(chip::TransferKind::kReduce)];
    auto& contents = made.contents.transfers[static_cast<size_t>(chip::TransferKind::kReduce)];
    for (int32_t i = 0; i < 5; ++i) {
        transfers.push_back({.from = i, .to = {i + 1}, .bytes = i});
        contents.push_back({Piece{static_cast<size_t>(i), {}}});
    }
    sort_transfers(made, chip::TransferKind::kReduce, {2, 1, 2, 0, 1});
    std::vector<int32_t> from;
    for (size_t i = 0; i < transfers.size(); ++i) {
        from.push_back(transfers[i].from);
        EXPECT_EQ(contents[i].front().tensor, static_cast<size_t>(transfers[i].from));
    }
    EXPECT_EQ(from, (std::vector<int32_t>{3, 1, 4, 0, 2}));
    contents.clear();
    sort_transfers(made, chip::TransferKind::kReduce, {4, 3, 2, 1, 0});
    EXPECT_EQ(transfers.front().from, 2);
}

}  // namespace
}  // namespace tessera::partition
