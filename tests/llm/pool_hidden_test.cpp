#include "llm/pool_hidden.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error.h"

namespace tessera::llm {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatEq;

TEST(PoolHidden, MeanAndLength) {
    HiddenPool mean({.normalise = false});
    mean.add(std::vector<float>{1, 2});
    mean.add(std::vector<float>{3, -6});
    EXPECT_THAT(mean.finish(), ElementsAre(2, -2));
    HiddenPool scaled({});
    scaled.add(std::vector<float>{3, 0});
    scaled.add(std::vector<float>{3, 8});
    EXPECT_THAT(scaled.finish(), ElementsAre(FloatEq(0.6F), FloatEq(0.8F)));
}

TEST(PoolHidden, ZerosStayAsTheyAre) {
    HiddenPool pool({});
    pool.add(std::vector<float>{0, 0});
    EXPECT_THAT(pool.finish(), ElementsAre(0, 0));
}

TEST(PoolHidden, WhatIsNoNumberIsAnError) {
    for (const float bad :
         {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
        HiddenPool pool({});
        pool.add(std::vector<float>{1, bad});
        EXPECT_THROW((void)pool.finish(), Error);
    }
}

TEST(PoolHidden, RowsOfAPooling) {
    const std::vector<int32_t> tokens = {5, 6, 7};
    EXPECT_THAT(pooled_rows(tokens, Pooling::kMean), ElementsAre(0, 1, 2));
    EXPECT_THAT(pooled_rows(tokens, Pooling::kLast), ElementsAre(2));
}

}  // namespace
}  // namespace tessera::llm
