#include "chip/event_queue.h"

#include <algorithm>
#include <random>
#include <tuple>

#include <gtest/gtest.h>

namespace tessera::chip {
namespace {

// Against a list that is searched for the earliest event, the first made of equal ones.
TEST(EventQueue, GivesTheEarliestFirstAndEqualOnesInTheirOrder) {
    std::mt19937_64 random(5);
    for (int trial = 0; trial < 200; ++trial) {
        EventQueue queue;
        std::vector<std::pair<double, int32_t>> waiting;
        int32_t made = 0;
        double now = 0;
        for (int step = 0; step < 300; ++step) {
            if (waiting.empty() || random() % 5 < 2 + static_cast<unsigned>(trial % 2)) {
                // Many events of the present moment, as packets make them, and a few of the past: a queue is
                // no clock.
                const double time =
                    std::max(0.0, now +
                                      (random() % 20 == 0 ? static_cast<double>(random() % 30'000) / 3
                                                          : static_cast<double>(random() % 4)) -
                                      (random() % 50 == 0 ? 2 : 0));
                queue.push(time, EventKind::kHop, made);
                waiting.emplace_back(time, made++);
                continue;
            }
            const auto next = std::min_element(waiting.begin(), waiting.end());
            ASSERT_FALSE(queue.is_empty());
            ASSERT_EQ(queue.next_time(), next->first);
            const Event event = queue.pop();
            ASSERT_EQ(event.a, next->second);
            now = event.time;
            waiting.erase(next);
        }
    }
}

}  // namespace
}  // namespace tessera::chip
