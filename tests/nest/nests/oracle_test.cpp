#include <cstdlib>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/nests/instance_files.h"
#include "nest/nests/random_nest.h"
#include "nest/nests/space_search.h"
#include "support/shared_data.h"
#include "support/temporary_folder.h"

// The oracle of nests, which executes them, on instances that it has not seen, where it and Debian's Python
// are there. It fails for itself where contents hide wrong numbers, or make infinities of right ones; these
// few instances say nothing.
namespace tessera::nests {
namespace {

constexpr uint64_t kFirst = 5000;
constexpr uint64_t kNests = 40;
constexpr uint64_t kSpaces = 12;

class NestOracle : public ::testing::Test {
protected:
    void SetUp() override {
        TESSERA_SKIP_WITHOUT_SHARED("nests/oracle.py", "facts of random nests against the oracle");
        if (std::system(
                "/usr/bin/python3 -c 'import numpy, sys; assert sys.version_info >= (3, 11)' 2>/dev/null") !=
            0)
            GTEST_SKIP() << "not checked: nests against the oracle, which needs python3 3.11 with numpy";
    }

    /// Runs the oracle of a folder; what it prints becomes a file of the temporary folder.
    bool run(const std::string& arguments, const std::string& out, const char* of = "nests") const {
        const std::string oracle = (tessera::test::shared_data(of) / "oracle.py").string();
        const std::string command = fmt::format("/usr/bin/python3 -B '{}' {} > '{}'", oracle, arguments,
                                                (folder_.path() / out).string());
        return std::system(command.c_str()) == 0;
    }

    TemporaryFolder folder_;
};

TEST_F(NestOracle, AgreesOnRandomNestsAndSpaces) {
    for (uint64_t seed = kFirst; seed < kFirst + kNests; ++seed)
        std::ofstream(folder_.path() / fmt::format("{}.nest", seed)) << random_nest_text(seed);
    for (uint64_t seed = kFirst; seed < kFirst + kSpaces; ++seed)
        std::ofstream(folder_.path() / fmt::format("s{}.space", seed)) << random_space_text(seed);
    ASSERT_TRUE(run(fmt::format("--write '{}'", folder_.path().string()), "written.txt"));
    for (const char* extension : {".nest", ".space"})
        for (const auto& file : instances_in(folder_.path(), extension)) {
            SCOPED_TRACE(read_text(file));
            const auto want = read_json(std::filesystem::path(file).replace_extension(".json"));
            EXPECT_THAT(differences(facts_of(file), want), ::testing::IsEmpty());
        }
}

TEST_F(NestOracle, AgreesOnRandomNestsOnLevels) {
    const char* number = std::getenv("TESSERA_TIER_CASES");
    const uint64_t tiers = number ? std::strtoull(number, nullptr, 10) : 24;
    for (uint64_t seed = kFirst; seed < kFirst + tiers; ++seed)
        std::ofstream(folder_.path() / fmt::format("{}.tier", seed)) << random_tier_text(seed);
    ASSERT_TRUE(run(fmt::format("--write '{}'", folder_.path().string()), "written.txt", "levels"))
        << read_text(folder_.path() / "written.txt");
    size_t legal = 0;
    for (const auto& file : instances_in(folder_.path(), ".tier")) {
        SCOPED_TRACE(read_text(file));
        const auto want = read_json(std::filesystem::path(file).replace_extension(".json"));
        EXPECT_THAT(differences(facts_of(file), want), ::testing::IsEmpty());
        legal += !want.contains("illegal");
    }
    EXPECT_GE(2 * legal, tiers);
}

TEST_F(NestOracle, FindsTheNestInTheSpace) {
    const auto file = own_instances() / "heads.space";
    const nlohmann::json got = facts_of(file);
    ASSERT_TRUE(
        run(fmt::format("--evaluate '{}' '{}'", file.string(), got["nest"].get<std::string>()), "e.json"));
    const nlohmann::json judged = read_json(folder_.path() / "e.json");
    EXPECT_EQ(judged["in_space"], true);
    EXPECT_EQ(judged["feasible"], true);
    EXPECT_DOUBLE_EQ(judged["estimate"].get<double>(), got["estimate"].get<double>());
}

}  // namespace
}  // namespace tessera::nests
