// Programs in plain C: numbers are rounded where the interpreter rounds them, so that results are equal to
// the bit, by one worker and by several. Every element type, every micro-kernel, and the corpus that C++ is
// tried with; plans have the lanes of any machine, since C has none.
#include "backend/scalar_c/emit.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backend/compiled_plans.h"
#include "lowering/movement/example_plans.h"
#include "lowering/movement/interpreted_plan.h"

namespace tessera::testing {
namespace {

const backend::Backend& scalar_c() {
    return *backend::find_backend("scalar-c");
}

/// Registers that every host has.
constexpr int64_t kLanesOfRegisters = 4;
constexpr double kEqual = 0;

class ScalarC : public ::testing::TestWithParam<int64_t> {
protected:
    static void append(std::vector<PlannedGraph>& plans, std::vector<PlannedGraph> more) {
        for (PlannedGraph& planned : more) plans.push_back(std::move(planned));
    }
    static void expect_equal(const std::vector<PlannedGraph>& plans) {
        expect_compiled_plans_compute(kLanesOfRegisters, plans, scalar_c(), kEqual);
    }
};

TEST_P(ScalarC, DefaultAndEditedPlansComputeWhatTheInterpreterDoes) {
    std::vector<PlannedGraph> plans;
    for (const uint64_t seed : seeds_of_lanes(1, 13, GetParam()))
        plans.push_back(default_planned(seed, GetParam()));
    for (const uint64_t seed : seeds_of_lanes(101, 110, GetParam()))
        append(plans, edited_plans(seed, GetParam(), 3));
    expect_equal(plans);
}

TEST_P(ScalarC, WorkersComputeWhatTheInterpreterDoes) {
    std::vector<PlannedGraph> plans;
    for (const uint64_t seed : seeds_of_lanes(201, 204, GetParam())) {
        append(plans, plans_of_workers(seed, GetParam()));
        append(plans, edited_plans_of_workers(seed, GetParam(), 4));
    }
    expect_equal(plans);
}

TEST_P(ScalarC, AnyLayoutsComputeWhatTheInterpreterDoes) {
    std::vector<PlannedGraph> plans;
    for (const uint64_t seed : seeds_of_lanes(1, 9, GetParam())) plans.push_back(laid_out(seed, GetParam()));
    append(plans, ragged_plans(GetParam(), {GetParam() - 1, GetParam() + 1}));
    expect_equal(plans);
}

INSTANTIATE_TEST_SUITE_P(Lanes, ScalarC, ::testing::Values(4, 8, 16),
                         [](const auto& lanes) { return fmt::format("{}", lanes.param); });

TEST(ScalarCOfMicroKernels, ComputesWhatTheInterpreterDoes) {
    CompiledPlans compiled(kLanesOfRegisters, scalar_c(), kEqual);
    for (const auto& [kernel, example] : examples()) compiled.add(example.parsed(), example.planned());
    compiled.compile();
    size_t index = 0;
    for (const auto& [kernel, example] : examples()) {
        SCOPED_TRACE(kernel);
        for (const int64_t tokens : {1, 5, 64}) compiled.run(index, example.call(tokens));
        ++index;
    }
}

TEST(ScalarCText, IsNoCppAndKnowsNoNtt) {
    const Example& example = examples().at("contract");
    const backend::Code code =
        backend::scalar_c::emit("", InterpretedPlan(example.parsed(), example.planned()).programs(), {});
    EXPECT_EQ(code.language, backend::Language::kC);
    for (const char* word : {"ntt", "::", "template", "auto "})
        EXPECT_EQ(code.text.find(word), std::string::npos) << word;
    EXPECT_NE(code.text.find("\nvoid tessera_step_all(const struct TesseraStep* step) {"), std::string::npos);
}

}  // namespace
}  // namespace tessera::testing
