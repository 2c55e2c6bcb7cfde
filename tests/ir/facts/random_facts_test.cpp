#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/facts/brute_force.h"
#include "ir/facts/fact_files.h"
#include "ir/facts/run_signatures.h"
#include "ir/random_definition.h"

// The derivation against the enumeration of every iteration, on definitions that nobody has seen.
namespace tessera::facts {
namespace {

constexpr uint64_t kRandomDefinitions = 300;

TEST(RandomFacts, AgreeWithBruteForce) {
    for (uint64_t seed = 0; seed < kRandomDefinitions; ++seed) {
        const std::string text = random_definition_text(seed, {.largest_box = 2000});
        SCOPED_TRACE(::testing::Message() << "seed " << seed << "\n" << text);
        const auto want = brute_force_facts(parse_definition_file(text, "drawn.op"), "drawn.op");
        ASSERT_THAT(differences(facts_of(text, "drawn.op", false), want), ::testing::IsEmpty());
    }
}

TEST(RandomFacts, OwnDefinitionsAgreeWithBruteForce) {
    for (const auto& file : definitions_in(own_definitions())) {
        SCOPED_TRACE(file.filename().string());
        const std::string text = read_text(file);
        const auto want = brute_force_facts(parse_definition_file(text, file.string()), file.string());
        EXPECT_THAT(differences(facts_of(text, file.string(), false), want), ::testing::IsEmpty());
    }
}

// Signatures claim to hold for all contents: they must be true when they are run.
TEST(RandomFacts, SignaturesAreTrueWhenRun) {
    int checked = 0;
    for (const auto& file : definitions_in(own_definitions())) {
        SCOPED_TRACE(file.filename().string());
        const SignatureRun run =
            run_signatures(parse_definition_file(read_text(file), file.string()), file.string());
        EXPECT_THAT(run.broken, ::testing::IsEmpty());
        checked += run.checked;
    }
    for (uint64_t seed = 0; seed < kRandomDefinitions / 2; ++seed) {
        const std::string text = random_definition_text(seed, {.largest_box = 1000});
        SCOPED_TRACE(::testing::Message() << "seed " << seed << "\n" << text);
        const SignatureRun run = run_signatures(parse_definition_file(text, "drawn.op"), "drawn.op");
        ASSERT_THAT(run.broken, ::testing::IsEmpty());
        checked += run.checked;
    }
    EXPECT_GT(checked, 300);
}

}  // namespace
}  // namespace tessera::facts
