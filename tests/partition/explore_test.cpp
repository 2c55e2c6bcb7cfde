#include "partition/explore.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error.h"

namespace tessera::partition {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kWhere = std::string(TESSERA_SOURCE_DIR) + "/docs/test.toml";

ExploreSpace small_space(const std::string& more = {}) {
    return parse_explore_space(
        "chip = \"../machines/chips/small-16.toml\"\nmodels = [\"../models/tessera-tiny\", \"a,b\"]\n"
        "batch = [1, 4]\nsequence = [32, 64, 16]\nwork = 0\n" +
            more,
        kWhere);
}

TEST(ExploreSpace, HasEveryCombinationOnce) {
    const ExploreSpace space =
        small_space("[sweep]\nnetwork.shape = [[2, 8], [4, 4]]\nhbm.latency_cycles = [1, 2.5]\n");
    EXPECT_EQ(space.points(), 2u * 2 * 3 * 2 * 2);
    std::set<std::string> keys;
    for (size_t point = 0; point < space.points(); ++point) keys.insert(point_key(space, point));
    EXPECT_EQ(keys.size(), space.points());
    EXPECT_EQ(point_key(space, 0), "../models/tessera-tiny,1,32,1,2 x 8,");
    EXPECT_EQ(point_key(space, space.points() - 1), "\"a,b\",4,16,2.5,4 x 4,");
    EXPECT_EQ(space.header(),
              "model,batch,sequence,hbm.latency_cycles,network.shape,design,cycles,ms,bound,ideal,overlapped,"
              "hbm_busy,"
              "link_busy,problem\n");
}

TEST(ExploreSpace, PointsHaveALineForEachDesign) {
    const ExploreSpace space = small_space("designs = [\"basic\", \"ideal\"]\n");
    const std::string lines = point_lines(space, 0);
    EXPECT_THAT(lines, AllOf(StartsWith("../models/tessera-tiny,1,32,basic,"),
                             HasSubstr("\n../models/tessera-tiny,1,32,ideal,")));
    // The model of the last one does not exist.
    EXPECT_THAT(point_lines(space, space.points() - 1), HasSubstr(",ideal,,,,,,,,"));
    EXPECT_THAT(point_lines(space, space.points() - 1), HasSubstr("does not exist"));
}

TEST(ExploreSpace, ChangesTheFieldsOfEveryModule) {
    const ExploreSpace space =
        small_space("designs = [\"ideal\"]\n[sweep]\nhbm.bytes_per_second = [1e9, 32e9]\n");
    const auto cycles = [&](size_t point) {
        const std::string lines = point_lines(space, point);
        const size_t at = lines.find("ideal,") + 6;
        return std::stod(lines.substr(at));
    };
    // A chip that waits for its HBM is as many times slower.
    EXPECT_GT(cycles(0), 20 * cycles(1));
}

TEST(ExploreSpace, RefusesTooManyPoints) {
    std::string numbers;
    for (int i = 0; i < 400; ++i) numbers += (i == 0 ? "" : ", ") + std::to_string(1000 + i);
    try {
        (void)small_space("[sweep]\nsram.bytes = [" + numbers + "]\nhbm.latency_cycles = [" + numbers +
                          "]\n");
        FAIL();
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("and the lists make more than 100000 points"));
    }
}

}  // namespace
}  // namespace tessera::partition
