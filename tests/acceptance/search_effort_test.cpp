// The effect of the search on the shipped model, and of no search.
#include <algorithm>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "acceptance/shipped_model.h"
#include "import/import_model.h"
#include "support/temporary_folder.h"

namespace tessera::testing {
namespace {

using ::testing::HasSubstr;

compiler::Compiled compiled(int64_t effort, const std::filesystem::path& folder, CompileReport& report,
                            const import::ImportOptions& import = {}) {
    compiler::CompileOptions options = common_options(folder);
    options.search_effort = effort;
    options.dump = folder / "passes";
    const import::ImportedModel model = import::import_model(shipped_model(), import);
    return compiler::compile_graph(model.graph, options, report);
}

bool has_pass(const CompileReport& report, const std::string& name) {
    return std::any_of(report.passes.begin(), report.passes.end(),
                       [&](const CompileReport::Pass& pass) { return pass.name == name; });
}

TEST(SearchEffort, NoneIsTheDefaultPlannerAlone) {
    const TemporaryFolder folder;
    CompileReport none, one;
    const compiler::Compiled without = compiled(0, folder.path(), none),
                             with = compiled(1, folder.path(), one);
    EXPECT_FALSE(has_pass(none, "rewrite"));
    ASSERT_TRUE(has_pass(one, "rewrite"));
    // The shipped model has nothing to gain.
    EXPECT_EQ(print(with.graph), print(without.graph));
    EXPECT_THAT(one.passes[2].note, HasSubstr("saturated, optimal, unchanged"));
    EXPECT_TRUE(std::filesystem::exists(folder.path() / "passes" / "03-rewrite.txt"));
}

TEST(SearchEffort, WhatIsSplitAsItWasMergedIsTakenAsItWas) {
    const TemporaryFolder folder;
    CompileReport none, one, ten;
    // Under `fast` activations are blocks of 32 numbers, as heads are.
    const import::ImportOptions q8{.policy = import::Policy::kFast,
                                   .quantisation = import::mixture_of("q8_0").value()};
    const compiler::Compiled without = compiled(0, folder.path(), none, q8),
                             with = compiled(1, folder.path(), one, q8);
    EXPECT_THAT(print(without.graph), HasSubstr("_attended_blocks"));
    EXPECT_EQ(print(with.graph).find("_attended_blocks"), std::string::npos);
    // Ten times the work finds the same.
    EXPECT_EQ(print(compiled(10, folder.path(), ten, q8).graph), print(with.graph));
}

}  // namespace
}  // namespace tessera::testing
