#include "support/plot/chart.h"

#include <cmath>
#include <regex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::plot {
namespace {

using ::testing::HasSubstr;

size_t count_of(const std::string& text, const std::string& part) {
    size_t count = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
}

/// Attributes of the elements of one name and colour, in their order.
std::vector<double> attributes(const std::string& svg, const std::string& element,
                               const std::string& attribute, const std::string& colour) {
    std::vector<double> numbers;
    const std::regex line("<" + element + " [^>]*\\b" + attribute + "=\"([-0-9.]+)\"[^>]*\"" + colour +
                          "\"/>");
    for (std::sregex_iterator it(svg.begin(), svg.end(), line), end; it != end; ++it)
        numbers.push_back(std::stod((*it)[1]));
    return numbers;
}

constexpr const char* kFirst = "#0072b2";
constexpr const char* kSecond = "#e69f00";

TEST(Chart, BarsAreAsHighAsTheirNumbers) {
    const Chart chart{.title = "times",
                      .x_label = "",
                      .y_label = "ms",
                      .kind = ChartKind::kBars,
                      .categories = {"a", "b"},
                      .series = {{"one", {}, {2, 4}}, {"two", {}, {NAN, 1}}}};
    const std::string svg = draw({chart}, "bars");
    // The first of each colour is in the legend.
    const std::vector<double> first = attributes(svg, "rect", "height", kFirst),
                              second = attributes(svg, "rect", "height", kSecond);
    ASSERT_EQ(first.size(), 3u);
    ASSERT_EQ(second.size(), 2u);
    EXPECT_NEAR(first[2], 2 * first[1], 0.02);
    EXPECT_NEAR(first[2], 4 * second[1], 0.04);
    EXPECT_THAT(svg, HasSubstr(">times</text>"));
    EXPECT_THAT(svg, HasSubstr(">ms</text>"));
    EXPECT_EQ(count_of(svg, ">one</text>"), 1u);
}

TEST(Chart, StackedBarsStandOnEachOther) {
    const Chart chart{.title = "parts",
                      .x_label = "",
                      .y_label = "",
                      .kind = ChartKind::kStacked,
                      .categories = {"a"},
                      .series = {{"one", {}, {3}}, {"two", {}, {1}}}};
    const std::string svg = draw({chart}, "");
    const double lower = attributes(svg, "rect", "y", kFirst)[1],
                 upper = attributes(svg, "rect", "y", kSecond)[1];
    const double upper_height = attributes(svg, "rect", "height", kSecond)[1];
    EXPECT_NEAR(upper + upper_height, lower, 0.02);
}

TEST(Chart, PointsLieWhereTheirNumbersAre) {
    const Chart chart{.title = "",
                      .x_label = "x",
                      .y_label = "y",
                      .kind = ChartKind::kLines,
                      .categories = {},
                      .series = {{"one", {0, 5, 10}, {10, 5, 0}}},
                      .has_diagonal = false};
    const std::string svg = draw({chart}, "");
    const std::vector<double> x = attributes(svg, "circle", "cx", kFirst),
                              y = attributes(svg, "circle", "cy", kFirst);
    ASSERT_EQ(x.size(), 3u);
    EXPECT_NEAR(x[1] - x[0], x[2] - x[1], 0.02);
    EXPECT_NEAR(y[1] - y[0], y[2] - y[1], 0.02);
    EXPECT_LT(x[0], x[1]);
    EXPECT_LT(y[0], y[1]);
    EXPECT_EQ(count_of(svg, "<polyline"), 1u);
}

TEST(Chart, PanelsHaveOneLegendAndRowsOfThree) {
    const Chart chart{.title = "p",
                      .x_label = "",
                      .y_label = "",
                      .kind = ChartKind::kPoints,
                      .categories = {},
                      .series = {{"one", {1}, {1}}},
                      .has_diagonal = true};
    const std::string one = draw({chart}, ""), four = draw({chart, chart, chart, chart}, "");
    EXPECT_EQ(count_of(four, ">one</text>"), 1u);
    EXPECT_EQ(count_of(four, ">p</text>"), 4u);
    const auto size_of = [](const std::string& svg, const char* which) {
        return std::stod(svg.substr(svg.find(which) + std::string(which).size()));
    };
    EXPECT_GT(size_of(four, "width=\""), 2.9 * size_of(one, "width=\"") - 50);
    EXPECT_GT(size_of(four, "height=\""), 1.5 * size_of(one, "height=\""));
}

TEST(Chart, OfNothingIsAPicture) {
    EXPECT_THAT(draw({}, "empty"), HasSubstr(">empty</text>"));
    EXPECT_THAT(draw({Chart{.title = "t", .x_label = "", .y_label = "", .kind = ChartKind::kStacked}}, ""),
                HasSubstr("</svg>"));
    EXPECT_THAT(draw({Chart{.title = "t", .x_label = "", .y_label = ""}}, ""), HasSubstr("</svg>"));
}

}  // namespace
}  // namespace tessera::plot
