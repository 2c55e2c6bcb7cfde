#include "chip/partition/energy.h"

#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "chip/partition/model_workload.h"
#include "chip/partition/small_chips.h"
#include "chip/plan_schedule.h"

namespace tessera::partition {
namespace {

chip::ChipDescription with_energies() {
    return chip::read_chip_description(std::string(TESSERA_SOURCE_DIR) + "/machines/chips/small-16.toml");
}

Workload tiny_step() {
    return model_workload(std::string(TESSERA_SOURCE_DIR) + "/models/tessera-tiny",
                          {.batch = 4, .sequence = 32});
}

/// The least energy over all plans and preloads of an operator that fit, without any shortcut.
double least_by_all(const WorkOperator& op, const chip::ChipDescription& chip, int64_t room) {
    const PartitionPlans plans(op, chip);
    const PlannedOperator planned{
        .op = op, .hbm_bytes = plans.hbm_bytes(), .stored_bytes = plans.stored_bytes()};
    const int64_t even = tile_count(plans.hbm_bytes(), chip.chip.cores);
    double least = std::numeric_limits<double>::infinity();
    plans.for_each([&](const ExecutePlan& plan) {
        if (!plans.fits(plan) || plan.exec_bytes > room) return;
        const auto tiles = static_cast<double>(plan.tiles);
        for (const PreloadPlan& preload : plans.preloads(plan)) {
            if (std::max(even, preload.preload_bytes) > room) continue;
            const PlannedRow row{plan, preload, tiles * plans.cost().matrix_flops(plan.sizes),
                                 tiles * plans.cost().vector_flops(plan.sizes)};
            least = std::min(least, row_picojoules(planned, row, chip));
        }
    });
    return least;
}

TEST(Energy, RowsOfLeastEnergyAreThoseOfAllPlans) {
    const chip::ChipDescription chip = with_energies();
    const Workload workload = tiny_step();
    const ChipTables tables = chip_tables(workload, chip, "small-16.toml", RowChoice::kLeastEnergy);
    for (size_t o = 0; o < tables.operators.size(); ++o) {
        SCOPED_TRACE(workload.operators[o].name);
        const double least = least_by_all(workload.operators[o], chip, tables.problem.sram_bytes);
        ASSERT_FALSE(tables.operators[o].rows.empty());
        for (const PlannedRow& row : tables.operators[o].rows)
            EXPECT_NEAR(row_picojoules(tables.operators[o], row, chip), least, 1e-9 * least);
    }
}

TEST(Energy, OfTheFastestPlansIsMoreAndEveryScheduleOfTheOthersTakesTheLeast) {
    const chip::ChipDescription chip = with_energies();
    const ChipTables fast = chip_tables(tiny_step(), chip, "small-16.toml"),
                     frugal = chip_tables(tiny_step(), chip, "small-16.toml", RowChoice::kLeastEnergy);
    const chip::PlanOptions options{.work = 100'000};
    const chip::PlanResult fastest = chip::plan_schedule(fast.problem, options),
                           found = chip::plan_schedule(frugal.problem, options);
    const double least = least_joules(frugal, chip);
    EXPECT_NEAR(joules_of(frugal, found.schedule.rows, chip), least, 1e-9 * least);
    EXPECT_LT(least, least_joules(fast, chip) * (1 + 1e-9));
    EXPECT_LT(least, 0.999 * joules_of(fast, fastest.schedule.rows, chip));
    EXPECT_GT(found.total, fastest.total);
}

TEST(Energy, OfAScheduleIsThatOfItsRowsOnAllChips) {
    chip::ChipDescription chip = with_energies();
    const ChipTables tables = chip_tables(tiny_step(), chip, "small-16.toml");
    std::vector<size_t> rows(tables.problem.size(), 0);
    double picojoules = 0;
    for (const size_t o : tables.problem.sequence)
        picojoules += row_picojoules(tables.operators[o], tables.operators[o].rows[0], chip);
    EXPECT_NEAR(joules_of(tables, rows, chip), 1e-12 * picojoules, 1e-18 * picojoules);
    chip.pod.chips = 4;
    EXPECT_NEAR(joules_of(tables, rows, chip), 4e-12 * picojoules, 1e-18 * picojoules);
    // Twice the energy of the HBM, and nothing else.
    chip::ChipDescription hungry = chip;
    hungry.energy->hbm_byte *= 2;
    const double bytes = static_cast<double>(tables.hbm_bytes + tables.stored_bytes);
    EXPECT_NEAR(joules_of(tables, rows, hungry) - joules_of(tables, rows, chip),
                4e-12 * bytes * chip.energy->hbm_byte, 1e-9 * 4e-12 * picojoules);
}

TEST(Energy, NeedsAChipThatDescribesIt) {
    EXPECT_THROW((void)chip_tables(tiny_step(), small_chip({.sram_bytes = 1'000'000}), "small.toml",
                                   RowChoice::kLeastEnergy),
                 Error);
}

}  // namespace
}  // namespace tessera::partition
