#include <gtest/gtest.h>

#include "tessera/bench.h"

namespace tessera::benchmark {
namespace {

void expect(const Quartiles& found, double low, double median, double high) {
    EXPECT_DOUBLE_EQ(found.low, low);
    EXPECT_DOUBLE_EQ(found.median, median);
    EXPECT_DOUBLE_EQ(found.high, high);
}

TEST(Quartiles, AsNumpyHasThem) {
    expect(quartiles({7}), 7, 7, 7);
    expect(quartiles({2, 1}), 1.25, 1.5, 1.75);
    expect(quartiles({5, 3, 1}), 2, 3, 4);
    expect(quartiles({9, 2, 8, 1, 7, 3, 6, 4, 5}), 3, 5, 7);
    expect(quartiles({1, 2, 4, 8}), 1.75, 3, 5);
}

}  // namespace
}  // namespace tessera::benchmark
