// Measuring with budgets so small that the figures mean nothing: the tests check which choices are measured.

#include "compiler/tune/tune.h"

#include <set>

#include <gtest/gtest.h>

#include "machine/probe.h"
#include "search/planner/default_planner.h"
#include "search/planner/rows_graph.h"
#include "search/planner/usual_machine.h"
#include "support/search_path.h"
#include "support/temporary_folder.h"

namespace tessera::tune {
namespace {

class Tuning : public ::testing::Test {
protected:
    planner::TuningLog tuned(planner::TuningLog log) {
        const Subject subject{graph_, plan_, machine_, [](const Point& point) {
                                  return cost::SizePoint{.symbols = point.values, .contents = {}};
                              }};
        kernels_ = 0;
        TuneOptions options{.top = 2, .rounds = 1, .least_share = 0};
        options.measuring = {.samples = 1,
                             .seconds = 1e-6,
                             .memory_bytes = 1 << 20,
                             .include_directory = TESSERA_SOURCE_DIR "/include",
                             .cache_directory = cache_.path(),
                             .search_path = compiler_search_path()};
        options.on_kernel = [&](size_t, size_t, const std::string&) { ++kernels_; };
        return tune(subject, std::move(log), options);
    }

    const TemporaryFolder cache_;
    const machine::Machine machine_ = machine::probe_host();
    const Graph graph_ = testing::rows_graph();
    const plan::Plan plan_ =
        planner::default_plan(graph_, testing::on_usual_machine({.machine = machine_.name, .nests = 100}));
    int kernels_ = 0;
};

TEST_F(Tuning, MeasuresChoicesOfEveryKernelOnce) {
    const planner::TuningLog log = tuned({});
    ASSERT_EQ(log.size(), static_cast<size_t>(kernels_));
    ASSERT_FALSE(log.empty());
    std::set<std::string> operators;
    for (const planner::TunedKernel& kernel : log) {
        operators.insert(kernel.operators.begin(), kernel.operators.end());
        EXPECT_EQ(kernel.machine, machine::content_hash(machine_));
        EXPECT_LE(kernel.choices.size(), 2U);
        for (const planner::MeasuredChoice& choice : kernel.choices) EXPECT_GT(choice.seconds, 0);
    }
    EXPECT_EQ(operators, (std::set<std::string>{"doubled", "normed", "r", "y"}));

    EXPECT_EQ(planner::print(tuned(log)), planner::print(log));
    EXPECT_EQ(kernels_, 0);
}

}  // namespace
}  // namespace tessera::tune
