#include "search/planner/tuning_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lowering/kernels/micro_kernels.h"
#include "search/planner/default_planner.h"
#include "search/planner/rows_graph.h"
#include "search/planner/usual_machine.h"
#include "support/error.h"

namespace tessera::planner {
namespace {

using ::testing::HasSubstr;

const PlannerOptions kOptions = testing::on_usual_machine({.machine = "test", .lanes = 8, .nests = 1});

class TuningLogs : public ::testing::Test {
protected:
    const Graph graph_ = testing::rows_graph();
    const plan::Plan plan_ = initial_plan(graph_, kOptions);
    const std::string specialisation_ = plan_.specialisations.front().name;

    TunedKernel entry(std::set<std::string> operators, std::string nest) const {
        return {.machine = "here",
                .kernel = kernel_digest(graph_, plan_, plan_.specialisations.front(), operators),
                .specialisation = specialisation_,
                .operators = operators,
                .choices = {{{std::move(nest)}, 2e-6, 1e-6}}};
    }
    UsedTuning used(const TuningLog& log) const {
        return used_tuning(log, "log", "here", graph_, plan_, kernels::micro_kernels());
    }
};

TEST_F(TuningLogs, ReadWhatTheyPrint) {
    const TuningLog log = {entry({"r", "normed"}, "t:4 { r; normed }"), entry({"y"}, "y")};
    const std::string text = print(log);
    EXPECT_EQ(print(parse_tuning_log(text, "log")), text);
    const TuningLog read = parse_tuning_log(text, "log");
    ASSERT_EQ(read.size(), 2U);
    EXPECT_EQ(read[0].operators, (std::set<std::string>{"normed", "r"}));
    EXPECT_DOUBLE_EQ(read[0].choices[0].seconds, 1e-6);
}

TEST_F(TuningLogs, StateTheFirstChoiceOfWhatWasMeasuredHere) {
    const TuningLog log = {entry({"r", "normed"}, "t:4 { r; normed }")};
    const UsedTuning tuning = used(log);
    ASSERT_EQ(tuning.kernels.size(), 1U);
    EXPECT_EQ(tuning.kernels[0].specialisation, specialisation_);
    PlannerOptions options = kOptions;
    options.stated = tuning.kernels;
    const plan::Plan plan = complete_plan(graph_, plan_, options);
    EXPECT_THAT(plan::print(plan.specialisations.front().kernels.front().nest), HasSubstr("t:4 { r["));
}

TEST_F(TuningLogs, OfOtherMachinesAndKernelsAreLeftOut) {
    TunedKernel elsewhere = entry({"y"}, "y"), changed = entry({"y"}, "y"), unknown = entry({"y"}, "y");
    elsewhere.machine = "elsewhere";
    changed.kernel = "0";
    unknown.operators = {"z"};
    const UsedTuning tuning = used({elsewhere, changed, unknown, entry({"y"}, "y"), entry({"y"}, "y")});
    EXPECT_EQ(tuning.of_other_machines, 1U);
    EXPECT_EQ(tuning.of_other_kernels, 3U);  // the last one's operator is taken
    EXPECT_EQ(tuning.kernels.size(), 1U);
}

TEST_F(TuningLogs, DigestsTellWorkersBoundsAndOperatorsApart) {
    const plan::SpecialisationPlan& own = plan_.specialisations.front();
    const std::string digest = kernel_digest(graph_, plan_, own, {"r"});
    plan::Plan workers = plan_;
    workers.workers = 2;
    EXPECT_NE(kernel_digest(graph_, workers, own, {"r"}), digest);
    plan::SpecialisationPlan bounds = own;
    --bounds.bounds.begin()->second.high;
    EXPECT_NE(kernel_digest(graph_, plan_, bounds, {"r"}), digest);
    EXPECT_NE(kernel_digest(graph_, plan_, own, {"r", "normed"}), digest);
}

TEST_F(TuningLogs, SayWhatIsWrongInThem) {
    const auto refusal = [](const std::string& text) -> std::string {
        try {
            (void)parse_tuning_log(text, "tuning.json");
        } catch (const Error& error) {
            return error.what();
        }
        return "accepted";
    };
    EXPECT_THAT(refusal("{}"), HasSubstr("tuning.json: `format`"));
    EXPECT_THAT(refusal(R"({"format": "other", "kernels": []})"), HasSubstr("tessera tuning 1"));
    EXPECT_EQ(refusal(R"({"format": "tessera tuning 1", "kernels": []})"), "accepted");
    EXPECT_THAT(refusal(R"({"format": "tessera tuning 1", "kernels": [{"machine": "m", "kernel": "k",
                            "specialisation": "s", "operators": ["a"], "choices": []}]})"),
                HasSubstr("kernels[0].choices"));
    EXPECT_THAT(refusal(R"({"format": "tessera tuning 1", "kernels": [{"machine": "m", "kernel": "k",
                            "specialisation": "s", "operators": ["a"], "choices": [{"nests": ["a"],
                            "estimated_us": 1, "measured_us": -1}]}]})"),
                HasSubstr("measured_us"));
    TuningLog log = {entry({"y"}, "y {")};
    EXPECT_THROW((void)used(log), Error);
}

}  // namespace
}  // namespace tessera::planner
