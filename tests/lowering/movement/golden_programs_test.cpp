// The lowered programs of one small graph under each micro-kernel, as files that can be read:
// tests/golden/programs/*.txt. TESSERA_UPDATE_GOLDEN=1 in the environment rewrites them; a missing one fails.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "lowering/kernels/micro_kernels.h"
#include "lowering/movement/difference.h"
#include "lowering/movement/example_plans.h"
#include "lowering/movement/interpreted_plan.h"
#include "lowering/movement/parse_program.h"

namespace tessera::testing {
namespace {

namespace fs = std::filesystem;

/// Weights are rounded to bf16 beside the largest score so far, which depends on where a fold cuts positions.
constexpr double kToleranceOfWeights = 0x1p-8;

class GoldenPrograms : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenPrograms, AreWhatTheFilesShow) {
    ASSERT_TRUE(examples().contains(GetParam())) << "micro-kernel " << GetParam() << " needs an example";
    const Example& example = examples().at(GetParam());
    const InterpretedPlan lowered(example.parsed(), example.planned());
    const std::string text = movement::print(lowered.programs()[0]);
    const fs::path path =
        fs::path(TESSERA_SOURCE_DIR) / "tests" / "golden" / "programs" / (GetParam() + ".txt");
    if (std::getenv("TESSERA_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
    std::ifstream file(path);
    ASSERT_TRUE(file.good()) << path << " is missing; TESSERA_UPDATE_GOLDEN=1 writes it";
    std::ostringstream golden;
    golden << file.rdbuf();
    EXPECT_EQ(text, golden.str()) << "TESSERA_UPDATE_GOLDEN=1 rewrites " << path;
    EXPECT_TRUE(movement::parse_program(golden.str(), path.string(), kernels::call_kinds()) ==
                lowered.programs()[0]);
}

TEST_P(GoldenPrograms, ComputeWhatTheGraphDoes) {
    const Example& example = examples().at(GetParam());
    const Graph graph = example.parsed();
    const InterpretedPlan lowered(graph, example.planned());
    const double tolerance = GetParam() == "stream_tiles" ? kToleranceOfWeights : kTolerance;
    for (const int64_t tokens : {1, 5, 64}) {
        const GraphCall call = example.call(tokens);
        const GraphResult expected = interpret_graph(graph, call);
        for (const movement::WorkerOrder order :
             {movement::WorkerOrder::kAscending, movement::WorkerOrder::kDescending,
              movement::WorkerOrder::kRandom}) {
            const InterpretedPlan::Run run = lowered.run(call, {.order = order});
            EXPECT_EQ(run.faults_text(), "");
            const Difference worst = difference(run.result, expected);
            EXPECT_LE(worst.relative, tolerance) << "T = " << tokens << ": " << worst.where;
            EXPECT_LE(worst.of_row, tolerance) << "T = " << tokens << ": " << worst.where_in_row;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Examples, GoldenPrograms, ::testing::ValuesIn(example_names()),
                         [](const auto& name) { return name.param; });

}  // namespace
}  // namespace tessera::testing
