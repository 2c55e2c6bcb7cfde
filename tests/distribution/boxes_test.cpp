#include "distribution/boxes.h"

#include <gtest/gtest.h>

#include "distribution/example.h"

namespace tessera::distribution {
namespace {

/// A value of [8, 4] f32 on 2 x 4 devices.
class Boxes : public ::testing::Test {
protected:
    std::optional<Box> made(const Form& from, int level, const Sbp& entry) const {
        return box(problem_, problem_.values[0], from, level, entry);
    }
    double seconds(const Form& from, int level, const Sbp& entry) const {
        return made(from, level, entry).value().seconds;
    }

    Problem problem_ =
        alone("op copy(a: 8, b: 4)\nin X f32[a, b]\nout Y f32[a, b] = X\n",
              "devices 2 alpha 1e-6 beta 1e-9\ndevices 4 alpha 1e-7 beta 1e-10\n", "X", "output Y B B\n");
    Sbp b_ = broadcast();
    Sbp p_ = partial(Monoid::kSum);
};

TEST_F(Boxes, CostWhatRingsCost) {
    EXPECT_EQ(seconds({b_, b_}, 0, split(0)), 0);
    EXPECT_DOUBLE_EQ(seconds({split(0), b_}, 0, b_), 1e-6 + 1e-9 * 128 / 2);
    EXPECT_DOUBLE_EQ(seconds({p_, b_}, 0, b_), 2 * (1e-6 + 1e-9 * 128 / 2));
    EXPECT_DOUBLE_EQ(seconds({p_, b_}, 0, split(1)), 1e-6 + 1e-9 * 128 / 2);
    EXPECT_DOUBLE_EQ(seconds({b_, split(0)}, 1, split(1)), 3 * (1e-7 + 1e-10 * 128 / 16));
    // The other level halves what is sent.
    EXPECT_DOUBLE_EQ(seconds({split(0), split(1)}, 1, b_), 3 * (1e-7 + 1e-10 * 64 / 4));
}

TEST_F(Boxes, AreCollectives) {
    EXPECT_EQ(made({b_, b_}, 1, split(0))->collective, Collective::kSlice);
    EXPECT_EQ(made({b_, split(0)}, 1, b_)->collective, Collective::kAllGather);
    EXPECT_EQ(made({b_, split(0)}, 1, split(1))->collective, Collective::kAllToAll);
    EXPECT_EQ(made({b_, p_}, 1, b_)->collective, Collective::kAllReduce);
    EXPECT_EQ(made({b_, p_}, 1, split(1))->collective, Collective::kReduceScatter);
    EXPECT_EQ(made({b_, p_}, 1, split(1))->to, (Form{b_, split(1)}));
}

TEST_F(Boxes, NeverMakePartialValues) {
    EXPECT_FALSE(made({b_, b_}, 0, p_));
    EXPECT_FALSE(made({split(0), b_}, 0, p_));
    EXPECT_FALSE(made({b_, b_}, 0, b_));
}

TEST_F(Boxes, DoNotCrossAnInnerSplitOfTheSameAxis) {
    EXPECT_FALSE(made({split(0), split(0)}, 0, b_));
    EXPECT_FALSE(made({b_, split(0)}, 0, split(0)));
    EXPECT_TRUE(made({split(0), split(0)}, 1, b_));
    EXPECT_TRUE(made({split(0), split(1)}, 0, b_));
    EXPECT_FALSE(made({split(0), split(1)}, 0, split(1)));
}

TEST_F(Boxes, DivideWithoutRest) {
    EXPECT_FALSE(made({split(1), b_}, 1, split(1)));
    EXPECT_TRUE(made({split(0), b_}, 1, split(0)));
}

// Partial weights become whole from the outermost level inwards, and in no other way.
TEST_F(Boxes, OfPartialWeights) {
    const Sbp weights = partial(Monoid::kSoftmaxSum);
    EXPECT_TRUE(made({weights, weights}, 0, b_));
    EXPECT_FALSE(made({weights, weights}, 1, b_));
    EXPECT_FALSE(made({weights, b_}, 0, split(0)));
    EXPECT_FALSE(made({weights, b_}, 1, split(0)));
    EXPECT_TRUE(made({b_, weights}, 1, b_));
    EXPECT_EQ(without_weights({weights, split(1)}), (Form{b_, split(1)}));
}

}  // namespace
}  // namespace tessera::distribution
