// The problems of ../shared/chip: tiny ones proved, real ones at or under the best schedule that is known.
#include <filesystem>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "chip/designs.h"
#include "chip/plan_schedule.h"
#include "chip/read_schedule_problem.h"
#include "chip/schedule_by_induction.h"
#include "chip/timeline.h"
#include "support/mapped_file.h"
#include "support/shared_data.h"

namespace tessera::chip {
namespace {

using Json = nlohmann::json;

struct Instance {
    std::string name;
    ScheduleProblem problem;
    Json facts;  ///< what lies beside it
};

std::vector<Instance> shared_instances(const std::string& prefix, const std::string& facts) {
    std::set<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(test::shared_data("chip")))
        if (const std::string name = entry.path().filename();
            name.starts_with(prefix) && name.ends_with(".problem.json"))
            files.insert(entry.path());
    std::vector<Instance> instances;
    for (const auto& file : files) {
        std::string beside = file.string();
        beside.replace(beside.size() - std::string(".problem.json").size(), std::string::npos, facts);
        instances.push_back({file.filename(),
                             read_schedule_problem(MappedFile::open(file.string()).text(), file.string()),
                             Json::parse(MappedFile::open(beside).text())});
    }
    return instances;
}

void expect_bounds(const ScheduleBounds& bounds, const Json& expected) {
    EXPECT_NEAR(bounds.execute, expected["execute"].get<double>(), 1e-9 * bounds.execute);
    EXPECT_NEAR(bounds.hbm, expected["hbm"].get<double>(), 1e-9 * bounds.hbm);
    EXPECT_NEAR(bounds.link, expected["link"].get<double>(), 1e-9 * bounds.link);
    EXPECT_NEAR(bounds.path, expected["path"].get<double>(), 1e-9 * bounds.path);
}

TEST(SharedSchedules, TinyOnesAreProved) {
    TESSERA_SKIP_WITHOUT_SHARED("chip/tiny_fair.problem.json", "tiny tables and their optima");
    const auto instances = shared_instances("tiny_", ".facts.json");
    ASSERT_GE(instances.size(), 12u);
    for (const auto& [name, problem, facts] : instances) {
        SCOPED_TRACE(name);
        const PlanResult result = plan_schedule(problem);
        if (facts["status"] == "infeasible") {
            EXPECT_EQ(result.status, SolverStatus::kInfeasible);
            EXPECT_EQ(result.infeasible_position, facts["operator"].get<size_t>());
            continue;
        }
        const double optimum = facts["optimum"];
        EXPECT_EQ(result.status, SolverStatus::kOptimal);
        EXPECT_NEAR(result.total, optimum, 1e-9 * optimum);
        EXPECT_LE(result.bounds.ahead, optimum * (1 + 1e-9));
        expect_bounds(result.bounds, facts["bounds"]);
        const Json& example = facts["example"];
        const Schedule schedule{example["rows"], example["order"], example["slots"]};
        EXPECT_EQ(schedule_fault(problem, schedule), "");
        EXPECT_NEAR(run_schedule(problem, schedule).total, optimum, 1e-9 * optimum);
        if (facts.contains("induction")) {
            std::vector<size_t> order(problem.size());
            for (size_t i = 0; i < order.size(); ++i) order[i] = i;
            EXPECT_NEAR(schedule_by_induction(problem, order)->total, facts["induction"].get<double>(),
                        1e-9 * optimum);
        }
    }
}

TEST(SharedSchedules, RealOnesAreAtMostTheBestKnown) {
    TESSERA_SKIP_WITHOUT_SHARED("chip/llama13_8000_L8.problem.json",
                                "tables of Llama-2-13B and their anchors");
    const auto instances = shared_instances("llama13_", ".anchors.json");
    ASSERT_GE(instances.size(), 4u);
    for (const auto& [name, problem, anchors] : instances) {
        SCOPED_TRACE(name);
        // A twentieth of what the tool spends.
        const PlanResult result = plan_schedule(problem, {.work = 4'000'000});
        EXPECT_EQ(schedule_fault(problem, result.schedule), "");
        expect_bounds(result.bounds, anchors["bounds"]);
        EXPECT_LE(result.total, anchors["best_feasible"].get<double>());
        EXPECT_LE(result.bound, result.total);
        EXPECT_LE(result.gap(), 0.08);
    }
}

// The paper's planner at the strength of its published implementation, whose plans were made to fit.
TEST(SharedSchedules, ElkIsAtMostThePublishedOne) {
    TESSERA_SKIP_WITHOUT_SHARED("chip/llama13_4000_L8.problem.json",
                                "tables of Llama-2-13B and totals of Elk's published implementation");
    size_t compared = 0;
    for (const auto& [name, problem, anchors] : shared_instances("llama13_", ".anchors.json")) {
        SCOPED_TRACE(name);
        const auto full = schedule_by_design(problem, Design::kElkFull);
        ASSERT_TRUE(full);
        EXPECT_EQ(schedule_fault(problem, full->schedule), "");
        if (anchors["elk_full_feasible"].is_null()) continue;
        ++compared;
        EXPECT_LE(run_schedule(problem, full->schedule).total,
                  anchors["elk_full_feasible"]["total"].get<double>());
    }
    EXPECT_GE(compared, 3u);
}

}  // namespace
}  // namespace tessera::chip
