#include "support/own_build.h"

#include <gtest/gtest.h>

namespace tessera {
namespace {

TEST(OwnBuild, HasADigestOfTheProgram) {
    const std::string build = own_build();
    EXPECT_GE(build.size(), 16U);
    EXPECT_EQ(build.find_first_not_of("0123456789abcdef"), std::string::npos) << build;
    EXPECT_EQ(own_build(), build);
}

}  // namespace
}  // namespace tessera
