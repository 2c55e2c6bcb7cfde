#include "support/work_lanes.h"

#include <atomic>
#include <future>
#include <vector>

#include <gtest/gtest.h>

namespace tessera {
namespace {

TEST(WorkLanes, QuickWorkDoesNotWaitForSlow) {
    std::promise<void> begins, may_end, is_done;
    WorkLanes lanes(1);  // the job still uses the promises when this thread is done with them
    lanes.add(WorkLanes::Lane::kSlow, [&] {
        begins.set_value();
        may_end.get_future().wait();
    });
    begins.get_future().wait();
    lanes.add(WorkLanes::Lane::kQuick, [&] { is_done.set_value(); });
    is_done.get_future().wait();  // while the slow job is at work
    may_end.set_value();
}

TEST(WorkLanes, JobsOfALaneBeginInTheirOrder) {
    std::vector<int> order;
    std::promise<void> is_done;
    WorkLanes lanes(1);
    for (int i = 0; i < 50; ++i) lanes.add(WorkLanes::Lane::kQuick, [&order, i] { order.push_back(i); });
    lanes.add(WorkLanes::Lane::kQuick, [&] { is_done.set_value(); });
    is_done.get_future().wait();
    for (int i = 0; i < 50; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
}

TEST(WorkLanes, StoppingWaitsForWhatHasBegunAndTakesNothingMore) {
    std::atomic<int> done = 0;
    std::promise<void> begins;
    WorkLanes lanes(1);
    lanes.add(WorkLanes::Lane::kQuick, [&] {
        begins.set_value();
        ++done;
    });
    begins.get_future().wait();
    lanes.stop();
    EXPECT_EQ(done, 1);
    lanes.add(WorkLanes::Lane::kQuick, [&] { ++done; });
    lanes.add(WorkLanes::Lane::kSlow, [&] { ++done; });
    lanes.stop();
    EXPECT_EQ(done, 1);
}

}  // namespace
}  // namespace tessera
