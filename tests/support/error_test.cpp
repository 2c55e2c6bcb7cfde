#include "support/error.h"

#include <gtest/gtest.h>

namespace tessera {
namespace {

TEST(Error, PrintsOnlyWhatIsKnown) {
    EXPECT_STREQ(Error("model.gguf:12", "blk.0", "has shape [2], expected [3]", "compare the headers").what(),
                 "model.gguf:12: `blk.0`: has shape [2], expected [3] (compare the headers)");
    EXPECT_STREQ(Error("", "", "out of space").what(), "out of space");
    EXPECT_STREQ(Error("", "bos", "is missing").what(), "`bos`: is missing");
    EXPECT_STREQ(Error("a.toml", "", "is empty").what(), "a.toml: is empty");
}

TEST(ErrorDeathTest, CheckPrintsTheConditionAndTheValues) {
    const int found = 3;
    EXPECT_DEATH(TESSERA_CHECK(found == 4, "found {}", found), "found == 4 does not hold: found 3");
}

}  // namespace
}  // namespace tessera
