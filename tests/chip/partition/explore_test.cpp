#include "chip/partition/explore.h"

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
    EXPECT_EQ(point_key(space, 0), "small-16,../models/tessera-tiny,,1,32,1,2 x 8,");
    EXPECT_EQ(point_key(space, space.points() - 1), "small-16,\"a,b\",,4,16,2.5,4 x 4,");
    EXPECT_EQ(space.header(),
              "chip,model,phase,batch,sequence,hbm.latency_cycles,network.shape,design,cycles,ms,bound,ideal,"
              "preload_ms,execute_ms,overlapped_ms,stalled_ms,hbm_busy,link_busy,tflops,problem\n");
}

TEST(ExploreSpace, PointsHaveALineForEachDesign) {
    const ExploreSpace space = small_space("designs = [\"basic\", \"ideal\"]\n");
    const std::string lines = point_lines(space, 0);
    EXPECT_THAT(lines, AllOf(StartsWith("small-16,../models/tessera-tiny,,1,32,basic,"),
                             HasSubstr("\nsmall-16,../models/tessera-tiny,,1,32,ideal,")));
    // The model of the last one does not exist.
    EXPECT_THAT(point_lines(space, space.points() - 1), HasSubstr(",ideal,,,,,,,,,,,,"));
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

std::vector<std::string> cells(const std::string& line) {
    std::vector<std::string> all(1);
    for (const char c : line.substr(0, line.find('\n')))
        if (c == ',')
            all.emplace_back();
        else
            all.back() += c;
    return all;
}

TEST(ExploreSpace, PartsOfAStepAddUpToIt) {
    const ExploreSpace space = small_space("designs = [\"search\"]\n");
    for (const size_t point : {0, 4}) {
        const std::vector<std::string> row = cells(point_lines(space, point));
        ASSERT_EQ(row.size(), cells(space.header()).size());
        double sum = 0;
        for (size_t k = 10; k < 14; ++k) sum += std::stod(row[k]);
        EXPECT_NEAR(sum, std::stod(row[7]), 1e-4 * sum);
    }
}

TEST(ExploreSpace, PhasesAndVariantsAreDimensions) {
    const ExploreSpace space = small_space(
        "phase = [\"decode\", \"prefill\"]\ndesigns = [\"ideal\"]\n"
        "[[variants]]\nname = \"slow\"\nhbm.bytes_per_second = 1e9\nsram.bytes = 65536\n"
        "[[variants]]\nname = \"fast\"\nhbm.bytes_per_second = 32e9\n");
    EXPECT_EQ(space.points(), 2u * 2 * 2 * 3 * 2);
    EXPECT_EQ(point_key(space, 1), "small-16,../models/tessera-tiny,decode,1,32,fast,");
    const auto ms = [&](size_t point) { return std::stod(cells(point_lines(space, point))[8]); };
    EXPECT_GT(ms(0), 20 * ms(1));
    // Reading 32 tokens takes longer than one where the HBM is fast.
    EXPECT_EQ(point_key(space, 13), "small-16,../models/tessera-tiny,prefill,1,32,fast,");
    EXPECT_GT(ms(13), ms(1));
}

TEST(ExploreSpace, RefusesChoicesByName) {
    const auto error_of = [](const std::string& more) -> std::string {
        try {
            (void)small_space(more);
            return "accepted";
        } catch (const Error& error) {
            return error.what();
        }
    };
    EXPECT_THAT(error_of("phase = [\"backward\"]\n"),
                HasSubstr("holds backward, expected decode, prefill or training"));
    EXPECT_THAT(error_of("chips = [\"x.toml\"]\n"), HasSubstr("expected one of `chip`, a file, and `chips`"));
    EXPECT_THAT(error_of("[[variants]]\nname = \"x\"\nsram.colour = 3\n"),
                HasSubstr("`variants.sram.colour`: is no field of"));
    EXPECT_THAT(error_of("[[variants]]\nsram.bytes = 3\n"), HasSubstr("`name`"));
    EXPECT_THAT(
        error_of("[[plots]]\nname = \"a/b\"\ntitle = \"t\"\nkind = \"lines\"\nx = [\"ms\"]\ny = [\"ms\"]\n"),
        HasSubstr("is a/b, expected letters, digits"));
    EXPECT_THAT(
        error_of("[[plots]]\nname = \"a\"\ntitle = \"t\"\nkind = \"pie\"\nx = [\"ms\"]\ny = [\"ms\"]\n"),
        HasSubstr("is pie, expected lines, points, bars or stacked"));
    EXPECT_THAT(error_of("[[plots]]\nname = \"a\"\ntitle = \"t\"\nkind = \"bars\"\nx = [\"ms\"]\ny = "
                         "[\"ms\", \"cycles\"]\n"),
                HasSubstr("expected one column, or several of stacked bars"));
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
