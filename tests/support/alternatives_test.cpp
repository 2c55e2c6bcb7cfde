#include "support/alternatives.h"

#include <gtest/gtest.h>

namespace tessera {
namespace {

TEST(Alternatives, AreListedWithOrBeforeTheLast) {
    EXPECT_EQ(alternatives({}), "");
    EXPECT_EQ(alternatives({"a"}), "a");
    EXPECT_EQ(alternatives({"a", "b"}), "a or b");
    EXPECT_EQ(alternatives({"a", "b", "c"}), "a, b or c");
}

}  // namespace
}  // namespace tessera
