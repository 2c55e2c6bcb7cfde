#include "chip/partition/device_plan.h"

#include <algorithm>
#include <cmath>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "chip/partition/cost_accuracy.h"
#include "chip/partition/model_workload.h"
#include "chip/partition/small_chips.h"
#include "chip/plan_schedule.h"
#include "chip/read_chip.h"
#include "chip/simulation.h"
#include "chip/trace.h"
#include "chip/trace_checker.h"
#include "support/error.h"

// Plans as device programs: the simulator runs them, its traces hold, and its times are those of the tables.
namespace tessera::partition {
namespace {

using nlohmann::json;
using ::testing::IsEmpty;

const std::string kSource = TESSERA_SOURCE_DIR;

Workload tiny_model(int64_t batch, int64_t sequence) {
    return model_workload(kSource + "/models/tessera-tiny", {.batch = batch, .sequence = sequence});
}

chip::ChipDescription small_16() {
    return chip::read_chip_description(kSource + "/machines/chips/small-16.toml");
}

/// A run of a program that has passed through its JSON, with the rules that its trace breaks.
struct ProgramRun {
    chip::DeviceProgram program;
    chip::Simulation simulation;
    std::vector<chip::TraceFault> faults;
};

ProgramRun run(const ChipTables& tables, const chip::Schedule& schedule,
               const chip::ChipDescription& description) {
    const std::string text =
        device_program_json(device_program(tables, schedule, description, "test"), description.chip);
    const std::string chip_text = chip::chip_json(description.chip);
    const chip::Chip chip = chip::read_chip(chip_text, "test.json");
    ProgramRun result{.program = chip::read_device_program(text, "program.json", chip)};
    const chip::Network network(chip);
    result.simulation = chip::simulate(chip, network, result.program, "program.json");
    result.faults =
        chip::check_trace(chip::trace_text(chip, network, result.program, chip_text, result.simulation),
                          json::parse(chip_text), json::parse(text));
    return result;
}

/// Nothing overlaps: every preload is issued in front of its own execute.
chip::Schedule one_by_one(const chip::ScheduleProblem& problem, const std::vector<size_t>& rows) {
    chip::Schedule schedule{.rows = rows, .order = {}, .slots = {}};
    for (size_t i = 0; i < problem.size(); ++i) {
        schedule.order.push_back(i);
        schedule.slots.push_back(i);
    }
    return schedule;
}

TEST(DevicePlan, OfRandomRowsHoldsEveryRuleOfATrace) {
    std::mt19937_64 random(3);
    const Workload workload = tiny_model(3, 32);
    const std::vector<chip::ChipDescription> chips = {
        small_16(), small_chip({.cores = 12, .sram_bytes = 400'000, .reserved_bytes = 64}),
        small_chip({.topology = "mesh", .shape = "[2, 5]", .cores = 10, .sram_bytes = 400'000}),
        small_chip(
            {.topology = "mesh", .shape = "[3, 3]", .cores = 9, .sram_bytes = 400'000, .has_matrix = false})};
    for (const chip::ChipDescription& description : chips) {
        const ChipTables tables = chip_tables(workload, description, "test.toml");
        // One layer of each is enough for the checker, which is slow.
        chip::ScheduleProblem few = tables.problem;
        few.sequence.resize(1 + few.repeats[0].length);
        few.repeats.clear();
        ChipTables layer = tables;
        layer.problem = few;
        for (int draw = 0; draw < 4; ++draw) {
            std::vector<size_t> rows;
            for (const size_t o : few.sequence) {
                const auto& all = few.operators[o].rows;
                size_t row = random() % all.size();
                while (!few.is_usable(all[row])) row = (row + 1) % all.size();
                rows.push_back(row);
            }
            const ProgramRun ran = run(layer, one_by_one(few, rows), description);
            for (const chip::TraceFault& fault : ran.faults)
                ADD_FAILURE() << fault.rule << ": " << fault.reason;
        }
    }
}

TEST(DevicePlan, CostsOfOperatorsAreThoseOfTheSimulator) {
    chip::ChipDescription all_to_all = small_16();
    all_to_all.chip.topology = chip::Topology::kAllToAll;
    all_to_all.shape.clear();
    for (chip::HbmController& each : all_to_all.chip.hbm) {
        each.at.clear();
        each.port_bytes_per_cycle = each.bytes_per_cycle;
    }
    for (const chip::ChipDescription& description : {small_16(), all_to_all}) {
        const ChipTables tables = chip_tables(tiny_model(16, 64), description, "test.toml");
        const chip::PlanResult plan = chip::plan_schedule(tables.problem, {.work = 100'000});
        const ProgramRun alone = run(tables, one_by_one(tables.problem, plan.schedule.rows), description);
        EXPECT_THAT(alone.faults, IsEmpty());
        std::vector<double> predicted, measured, preloads, measured_preloads;
        for (size_t i = 0; i < tables.problem.size(); ++i) {
            const chip::Row& row = tables.problem.at(i).rows[plan.schedule.rows[i]];
            const auto length = [](const chip::Span& span) { return span.end - span.begin; };
            predicted.push_back(row.execute());
            measured.push_back(length(alone.simulation.executes[i]));
            if (row.preload() == 0) continue;
            preloads.push_back(row.preload());
            measured_preloads.push_back(length(alone.simulation.preloads[i]));
        }
        const Agreement executes = agreement(predicted, measured);
        EXPECT_LE(executes.median_error, 0.10);
        EXPECT_GE(executes.correlation, 0.95);
        const Agreement preloading = agreement(preloads, measured_preloads);
        EXPECT_LE(preloading.median_error, 0.10);
        EXPECT_GE(preloading.correlation, 0.95);
        // And the schedule with all its contention.
        const ProgramRun together = run(tables, plan.schedule, description);
        EXPECT_THAT(together.faults, IsEmpty());
        const double total = together.simulation.executes.back().end;
        EXPECT_NEAR(plan.total, total, 0.10 * total);
        RecordProperty("median_error", std::to_string(executes.median_error));
        fmt::print("executes {:.4f} {:.4f}, preloads {:.4f} {:.4f}, total {:.0f} of {:.0f}\n",
                   executes.median_error, executes.correlation, preloading.median_error,
                   preloading.correlation, plan.total, total);
    }
}

TEST(DevicePlan, RefusesWhatIsTooLarge) {
    const chip::ChipDescription description = small_16();
    const ChipTables tables = chip_tables(tiny_model(2, 32), description, "test.toml");
    const chip::PlanResult plan = chip::plan_schedule(tables.problem, {.work = 0});
    EXPECT_THROW((void)device_program(tables, plan.schedule, description, "test", 1000), Error);
}

}  // namespace
}  // namespace tessera::partition
