#include "run/llm/source_features.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error.h"

namespace tessera::llm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(SourceFeatures, EachTokenHasItsRowsAndZerosBeyondTheEnds) {
    const runtime::Manifest::Features form{.width = 2, .taps = 3, .every = 2, .first = -1, .count = 2};
    const std::vector<float> rows = {1, 2, 3, 4, 5, 6, 7, 8};
    EXPECT_THAT(source_features(form, rows, "m.tsr"), ElementsAre(0, 0, 1, 2, 3, 4, 3, 4, 5, 6, 7, 8));
}

TEST(SourceFeatures, AnotherNumberOfRowsIsRefused) {
    const runtime::Manifest::Features form{.width = 2, .taps = 1, .every = 1, .first = 0, .count = 3};
    EXPECT_THAT([&] { (void)source_features(form, std::vector<float>(4), "m.tsr"); },
                ::testing::ThrowsMessage<Error>(HasSubstr("have 4 numbers, expected 3 rows of 2")));
}

}  // namespace
}  // namespace tessera::llm
