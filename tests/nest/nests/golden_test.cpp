#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/nests/instance_files.h"
#include "support/shared_data.h"

// Every fact of every instance with known facts: the project's own, and those beside the checkout.
namespace tessera::nests {
namespace {

void expect_agreement(const std::filesystem::path& folder, const std::string& extension, size_t at_least) {
    const auto files = instances_in(folder, extension);
    EXPECT_GE(files.size(), at_least);
    for (const auto& file : files) {
        SCOPED_TRACE(file.filename().string());
        const auto want = read_json(std::filesystem::path(file).replace_extension(".json"));
        EXPECT_THAT(differences(facts_of(file), want), ::testing::IsEmpty());
    }
}

TEST(GoldenNests, OfOwnNests) {
    expect_agreement(own_instances(), ".nest", 9);
}

TEST(GoldenNests, OfOwnSpaces) {
    expect_agreement(own_instances(), ".space", 3);
}

TEST(GoldenNests, OfOwnNestsOnLevels) {
    expect_agreement(own_instances(), ".tier", 4);
}

TEST(GoldenNests, OfOwnOpenProblems) {
    expect_agreement(own_instances(), ".tiers", 3);
}

TEST(GoldenNests, OfSharedNests) {
    TESSERA_SKIP_WITHOUT_SHARED("nests", "facts of nests");
    expect_agreement(tessera::test::shared_data("nests"), ".nest", 26);
}

TEST(GoldenNests, OfSharedSpaces) {
    TESSERA_SKIP_WITHOUT_SHARED("nests", "facts of spaces");
    expect_agreement(tessera::test::shared_data("nests"), ".space", 9);
}

TEST(GoldenNests, OfSharedNestsOnLevels) {
    TESSERA_SKIP_WITHOUT_SHARED("levels", "facts of nests on memory levels");
    expect_agreement(tessera::test::shared_data("levels"), ".tier", 8);
}

TEST(GoldenNests, OfSharedOpenProblems) {
    TESSERA_SKIP_WITHOUT_SHARED("levels", "the best nests on memory levels");
    expect_agreement(tessera::test::shared_data("levels"), ".tiers", 6);
}

// The comparison itself must be able to fail.
TEST(GoldenNests, DifferencesAreSeen) {
    const auto file = own_instances() / "products.nest";
    auto want = read_json(std::filesystem::path(file).replace_extension(".json"));
    const auto got = facts_of(file);
    ASSERT_THAT(differences(got, want), ::testing::IsEmpty());
    want["units"] = 4;
    want["operators"]["c"]["recompute"] = "3";
    want["buffers"]["B"]["depends"].push_back("e.m");
    want["estimate"] = want["estimate"].get<double>() * (1 + 1e-8);
    want["missing"] = 0;
    EXPECT_EQ(differences(got, want).size(), 5U);
}

}  // namespace
}  // namespace tessera::nests
