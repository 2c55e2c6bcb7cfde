#include "compiler/measure/rank_exchanges.h"

#include <vector>

#include <gtest/gtest.h>

#include "run/runtime/rank_group.h"

namespace tessera::measure {
namespace {

TEST(RankExchanges, AreTimedAlikeOnAllRanks) {
    for (const RankExchange& exchange :
         {RankExchange{.call = "gather", .part_bytes = 64, .starts = {}},
          RankExchange{.call = "transpose", .part_bytes = 64, .starts = {}},
          RankExchange{.call = "place", .rows = 3, .starts = {0, 8, 24, 32}}}) {
        std::vector<double> seconds(3);
        runtime::on_local_ranks(3, [&](runtime::Communicator& rank) {
            seconds[static_cast<size_t>(rank.rank())] = exchange_seconds(rank, exchange);
        });
        EXPECT_GT(seconds[0], 0) << exchange.call;
        EXPECT_EQ(seconds, std::vector<double>(3, seconds[0])) << exchange.call;
    }
}

TEST(RankExchanges, GiveALink) {
    runtime::on_local_ranks(2, [](runtime::Communicator& rank) {
        const machine::RankLink link = measure_rank_link(rank, "memory");
        EXPECT_EQ(link.ranks, 2);
        EXPECT_EQ(link.transport, "memory");
        EXPECT_GT(link.latency_seconds, 0);
        EXPECT_LT(link.latency_seconds, 0.1);
        EXPECT_GT(link.bytes_per_second, 1e6);
    });
}

}  // namespace
}  // namespace tessera::measure
