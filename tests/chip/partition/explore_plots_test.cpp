#include "chip/partition/explore_plots.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error.h"

namespace tessera::partition {
namespace {

using plot::ChartKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kTable =
    "model,hbm.bytes_per_second,design,ms,preload_ms,stalled_ms,problem\n"
    "a/one.json,1e9,basic,8,5,3,\n"
    "a/one.json,1e9,ideal,4,,,\n"
    "a/one.json,2e9,basic,6,4,2,\n"
    "a/one.json,2e9,ideal,2,,,\n"
    "two.json,1e9,basic,,,,\"no plan, \"\"x\"\"\"\n"
    "two.json,1e9,ideal,9,,,\n";

PlotSpec lines() {
    return {.name = "p",
            .title = "t",
            .kind = ChartKind::kLines,
            .x = {"hbm.bytes_per_second"},
            .x_factor = 1e-9,
            .y = {{"ms", "ms", 10}},
            .series = {"design"},
            .panels = {"model"}};
}

TEST(ExplorePlots, LinesHaveASeriesForEachTextAndAPanelForEachModel) {
    const std::vector<plot::Chart> charts = charts_of(lines(), kTable, "space.toml");
    ASSERT_EQ(charts.size(), 2u);
    EXPECT_EQ(charts[0].title, "one");
    EXPECT_THAT(charts[0].series, ElementsAre(plot::Series{"basic", {1, 2}, {80, 60}},
                                              plot::Series{"ideal", {1, 2}, {40, 20}}));
    // A row without a number is no point.
    EXPECT_THAT(charts[1].series, ElementsAre(plot::Series{"ideal", {1}, {90}}));
}

TEST(ExplorePlots, BarsHaveCategories) {
    PlotSpec spec = lines();
    spec.kind = ChartKind::kBars;
    spec.x = {"model", "hbm.bytes_per_second"};
    spec.panels = {};
    const std::vector<plot::Chart> charts = charts_of(spec, kTable, "space.toml");
    ASSERT_EQ(charts.size(), 1u);
    EXPECT_THAT(charts[0].categories, ElementsAre("one, 1", "one, 2", "two, 1"));
    ASSERT_EQ(charts[0].series.size(), 2u);
    EXPECT_THAT(charts[0].series[0].y, ElementsAre(80, 60));
    EXPECT_THAT(charts[0].series[1].y, ElementsAre(40, 20, 90));
}

TEST(ExplorePlots, StackedBarsHaveASeriesForEachColumn) {
    PlotSpec spec = lines();
    spec.kind = ChartKind::kStacked;
    spec.y = {{"preload_ms", "preload"}, {"stalled_ms", "stalled"}};
    spec.series = {};
    spec.only = {{"model", {"one"}}, {"design", {"basic", "static"}}};
    const std::vector<plot::Chart> charts = charts_of(spec, kTable, "space.toml");
    ASSERT_EQ(charts.size(), 1u);
    EXPECT_THAT(charts[0].categories, ElementsAre("1", "2"));
    EXPECT_THAT(charts[0].series,
                ElementsAre(plot::Series{"preload", {}, {5, 4}}, plot::Series{"stalled", {}, {3, 2}}));
}

TEST(ExplorePlots, RefusesUnknownColumns) {
    PlotSpec spec = lines();
    spec.panels = {"colour"};
    try {
        (void)charts_of(spec, "model,design,ms,hbm.bytes_per_second\n", "space.toml");
        FAIL();
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("space.toml: `plots.p`: names colour, which is no column"));
    }
}

}  // namespace
}  // namespace tessera::partition
