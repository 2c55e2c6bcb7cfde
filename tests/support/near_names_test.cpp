#include "support/near_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::vector<std::string> kNames = {"layer_q", "layer_k", "layer_q_weight", "layer_gate", "logits"};

TEST(NearNames, FewLettersFirstThenWhatContainsIt) {
    EXPECT_THAT(near_names("layer_q", kNames), ElementsAre("layer_q", "layer_k", "layer_q_weight"));
    EXPECT_THAT(near_names("logit", kNames), ElementsAre("logits"));
    EXPECT_THAT(near_names("weight", kNames), ElementsAre("layer_q_weight"));
}

TEST(NearNames, NothingNearIsNoName) {
    EXPECT_THAT(near_names("zzzzzz", kNames), IsEmpty());
    EXPECT_THAT(near_names("", kNames), IsEmpty());
    EXPECT_THAT(near_names("x", {}), IsEmpty());
}

TEST(NearNames, AtMostFive) {
    EXPECT_EQ(near_names("a", std::vector<std::string>(9, "ab")).size(), 5u);
}

}  // namespace
}  // namespace tessera
