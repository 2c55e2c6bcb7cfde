// Exchanges between ranks that this test starts. They are processes, so that it runs in one of its own.
#include "measure/rank_exchanges.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace tessera::measure {
namespace {

using ::testing::ExitedWithCode;

/// Runs a rank's work to the end: the destructor of rank 0 waits for the others.
template <typename Work>
[[noreturn]] void between_ranks(int64_t count, const Work& work) {
    std::shared_ptr<runtime::Communicator> ranks = runtime::start_local_ranks(count, 0);
    const bool is_right = work(*ranks);
    ranks.reset();
    ::_exit(is_right ? 0 : 7);
}

TEST(RankExchangesDeathTest, AreTimedAlikeOnAllRanks) {
    EXPECT_EXIT(between_ranks(3,
                              [](runtime::Communicator& ranks) {
                                  bool is_right = true;
                                  for (const RankExchange& exchange :
                                       {RankExchange{.call = "gather", .part_bytes = 64, .starts = {}},
                                        RankExchange{.call = "transpose", .part_bytes = 64, .starts = {}},
                                        RankExchange{.call = "place", .rows = 3, .starts = {0, 8, 24, 32}}}) {
                                      const double seconds = exchange_seconds(ranks, exchange);
                                      double first = seconds;
                                      ranks.broadcast(std::as_writable_bytes(std::span(&first, 1)));
                                      is_right = is_right && seconds > 0 && seconds == first;
                                  }
                                  return is_right;
                              }),
                ExitedWithCode(0), "");
}

TEST(RankExchangesDeathTest, GiveALink) {
    EXPECT_EXIT(between_ranks(2,
                              [](runtime::Communicator& ranks) {
                                  const machine::RankLink link = measure_rank_link(ranks, "memory");
                                  return link.ranks == 2 && link.transport == "memory" &&
                                         link.latency_seconds > 0 && link.latency_seconds < 0.1 &&
                                         link.bytes_per_second > 1e6;
                              }),
                ExitedWithCode(0), "");
}

}  // namespace
}  // namespace tessera::measure
