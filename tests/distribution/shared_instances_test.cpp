// The instances of ../shared/distribution: each proved, at the cost that its file of facts gives.
#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "distribution/distribute.h"
#include "distribution/plain_plans.h"
#include "distribution/read_problem.h"
#include "support/mapped_file.h"
#include "support/shared_data.h"

namespace tessera::distribution {
namespace {

TEST(SharedDistribution, IsSolvedAndProved) {
    TESSERA_SKIP_WITHOUT_SHARED("distribution/README.md", "the instances of distribution and their optima");
    int solved = 0;
    for (const auto& entry : std::filesystem::directory_iterator(test::shared_data("distribution"))) {
        if (entry.path().extension() != ".dist") continue;
        SCOPED_TRACE(entry.path().string());
        const Problem problem =
            read_problem(MappedFile::open(entry.path().string()).text(), entry.path().string());
        std::filesystem::path facts = entry.path();
        const auto want =
            nlohmann::json::parse(MappedFile::open(facts.replace_extension(".json").string()).text());
        const Distribution found = distribute(problem, {.nodes = 20'000});
        EXPECT_EQ(name(found.status), want["status"].get<std::string>());
        EXPECT_THAT(violations(problem, found.plan), ::testing::IsEmpty());
        if (found.status == Status::kOptimal) {
            EXPECT_TRUE(is_near(found.plan.seconds, want["cost"].get<double>()));
        } else {
            EXPECT_TRUE(is_near(problem.bytes(found.plan.units), want["least_memory"].get<double>()));
        }
        ++solved;
    }
    EXPECT_GE(solved, 19);
}

}  // namespace
}  // namespace tessera::distribution
