#include "import/alibi.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::import {
namespace {

using ::testing::ElementsAre;

TEST(Alibi, SlopesOfAPowerOfTwoHalveFromHeadToHead) {
    EXPECT_THAT(AlibiSlopes{.heads = 8}.values(),
                ElementsAre(0.5f, 0.25f, 0.125f, 0x1p-4f, 0x1p-5f, 0x1p-6f, 0x1p-7f, 0x1p-8f));
    EXPECT_THAT((AlibiSlopes{.heads = 2, .largest = 4}.values()), ElementsAre(0x1p-2f, 0x1p-4f));
}

TEST(Alibi, OtherNumbersTakeEverySecondSlopeOfTheNextPower) {
    const std::vector<float> of_eight = AlibiSlopes{.heads = 8}.values();
    EXPECT_THAT(AlibiSlopes{.heads = 6}.values(),
                ElementsAre(0.25f, 0x1p-4f, 0x1p-6f, 0x1p-8f, of_eight[0], of_eight[2]));
}

TEST(Alibi, ACallHasOneOrTwoNumbers) {
    EXPECT_EQ(alibi_slopes_in(*call_term("alibi", {number_term(6, true)})), AlibiSlopes{.heads = 6});
    EXPECT_EQ(alibi_slopes_in(*call_term("alibi", {name_term("heads")})), std::nullopt);
    EXPECT_EQ(alibi_slopes_in(*call_term("linear", {number_term(6, true)})), std::nullopt);
    EXPECT_EQ(AlibiSlopes{.heads = 6}.source(), "alibi(6, 8)");
}

}  // namespace
}  // namespace tessera::import
