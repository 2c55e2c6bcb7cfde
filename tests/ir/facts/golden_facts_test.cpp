#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/facts/fact_files.h"
#include "support/shared_data.h"

// Every fact of every definition with known facts: the project's own, and those of the zoo where it is beside
// the checkout.
namespace tessera::facts {
namespace {

void expect_all_agree(const std::filesystem::path& folder, size_t at_least) {
    const auto files = definitions_in(folder);
    EXPECT_GE(files.size(), at_least);
    for (const auto& file : files) {
        SCOPED_TRACE(file.filename().string());
        const auto want = read_json(std::filesystem::path(file).replace_extension(".json"));
        EXPECT_EQ(want.size(), 12U);
        EXPECT_THAT(differences(facts_of(read_text(file), file.string(), true), want), ::testing::IsEmpty());
    }
}

TEST(GoldenFacts, OfOwnDefinitions) {
    expect_all_agree(own_definitions(), 58);
}

TEST(GoldenFacts, OfTheZoo) {
    TESSERA_SKIP_WITHOUT_SHARED("zoo", "facts of the operator zoo");
    expect_all_agree(zoo(), 20);
}

// The comparison itself must be able to fail.
TEST(GoldenFacts, DifferencesAreSeen) {
    const auto file = own_definitions() / "scatter_add.op";
    auto want = read_json(std::filesystem::path(file).replace_extension(".json"));
    const auto got = facts_of(read_text(file), file.string(), true);
    want["work"]["flops"] = 1;
    want["depends"]["X"].push_back("k");
    want["sbp"].erase("t");
    want["values"]["R"]["sum"] = 1e9;
    EXPECT_EQ(differences(got, want).size(), 4U);
}

}  // namespace
}  // namespace tessera::facts
