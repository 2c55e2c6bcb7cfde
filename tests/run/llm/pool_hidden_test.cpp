#include "run/llm/pool_hidden.h"

#include <cmath>
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

// The numbers follow from the definitions in sentence-transformers' Pooling.
TEST(PoolHidden, EveryPooling) {
    const auto pooled = [](Pooling pooling) {
        HiddenPool pool({.pooling = pooling, .normalise = false});
        for (const auto& row : {std::vector<float>{1, -2}, {4, -8}, {-2, 3}}) pool.add(row);
        return pool.finish();
    };
    EXPECT_THAT(pooled(Pooling::kMean), ElementsAre(FloatEq(1), FloatEq(-7.0F / 3)));
    EXPECT_THAT(pooled(Pooling::kLast), ElementsAre(-2, 3));
    EXPECT_THAT(pooled(Pooling::kFirst), ElementsAre(1, -2));
    EXPECT_THAT(pooled(Pooling::kMax), ElementsAre(4, 3));
    EXPECT_THAT(pooled(Pooling::kMeanSqrt),
                ElementsAre(FloatEq(3 / std::sqrt(3.0F)), FloatEq(-7 / std::sqrt(3.0F))));
    EXPECT_THAT(pooled(Pooling::kWeightedMean), ElementsAre(FloatEq(0.5F), FloatEq(-1.5F)));
    for (const std::string& name : pooling_names()) EXPECT_EQ(tessera::name(pooling_of(name).value()), name);
    EXPECT_EQ(pooling_of("lasttoken"), std::nullopt);
}

TEST(PoolHidden, TheModelDecidesWhatTheOptionsLeaveOpen) {
    runtime::Manifest manifest;
    EXPECT_EQ(embedding_form({}, manifest).pooling, Pooling::kMean);
    EXPECT_TRUE(embedding_form({}, manifest).normalise);
    manifest.text = runtime::Manifest::Text{.pooling = "cls"};
    manifest.text->normalises = false;
    EXPECT_EQ(embedding_form({}, manifest).pooling, Pooling::kFirst);
    EXPECT_FALSE(embedding_form({}, manifest).normalise);
    const EmbeddingForm chosen = embedding_form({.pooling = Pooling::kMax, .normalise = true}, manifest);
    EXPECT_EQ(chosen.pooling, Pooling::kMax);
    EXPECT_TRUE(chosen.normalise);
    manifest.text->pooling = "rank";
    EXPECT_THROW((void)embedding_form({}, manifest), Error);
    EXPECT_EQ(embedding_form({.pooling = Pooling::kLast}, manifest).pooling, Pooling::kLast);
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
    EXPECT_THAT(pooled_rows(tokens, Pooling::kFirst), ElementsAre(0));
    EXPECT_THAT(pooled_rows(tokens, Pooling::kMax), ElementsAre(0, 1, 2));
}

}  // namespace
}  // namespace tessera::llm
