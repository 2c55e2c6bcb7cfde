#include "chip/partition/cost_accuracy.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chip/partition/model_workload.h"
#include "chip/partition/small_chips.h"
#include "chip/plan_schedule.h"

namespace tessera::partition {
namespace {

using ::testing::DoubleEq;

TEST(Agreement, IsTheMedianErrorAndTheCorrelation) {
    const Agreement of = agreement({1, 2, 6}, {2, 2, 4});
    EXPECT_THAT(of.median_error, DoubleEq(0.5));
    EXPECT_NEAR(of.correlation, 0.9819805, 1e-6);
    EXPECT_THAT(agreement({3, 5}, {6, 10}).correlation, DoubleEq(1));
    EXPECT_THAT(agreement({5, 3}, {6, 10}).correlation, DoubleEq(-1));
    EXPECT_EQ(agreement({}, {}).median_error, 0);
}

TEST(CostAccuracy, MeasuresEveryRowOfTheScheduleOnce) {
    const chip::ChipDescription description =
        small_chip({.cores = 12, .sram_bytes = 400'000, .reserved_bytes = 64});
    const ChipTables tables =
        chip_tables(model_workload(std::string(TESSERA_SOURCE_DIR) + "/models/tessera-tiny",
                                   {.batch = 8, .sequence = 64}),
                    description, "test.toml");
    const chip::PlanResult plan = chip::plan_schedule(tables.problem, {.work = 50'000});
    std::set<std::pair<size_t, size_t>> distinct;
    for (size_t i = 0; i < tables.problem.size(); ++i)
        distinct.emplace(tables.problem.sequence[i], plan.schedule.rows[i]);
    const std::vector<MeasuredRow> rows = measure_rows(tables, plan.schedule, description);
    ASSERT_EQ(rows.size(), distinct.size());
    const Agreement executes = execute_agreement(rows), preloads = preload_agreement(rows);
    EXPECT_LE(executes.median_error, 0.10);
    EXPECT_GE(executes.correlation, 0.95);
    EXPECT_GE(preloads.correlation, 0.95);
    const std::vector<plot::Chart> charts = accuracy_charts(rows);
    ASSERT_EQ(charts.size(), 2u);
    EXPECT_EQ(charts[0].series[0].y.size(), rows.size());
    EXPECT_LT(charts[1].series[0].y.size(), rows.size());
}

}  // namespace
}  // namespace tessera::partition
