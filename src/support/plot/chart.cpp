// Charts as SVG.
//
//     title
//     legend
//     +--------+  +--------+      each panel: title, y axis with ticks and faint lines, x axis with ticks or
//     | panel  |  | panel  |      categories, the series, labels of both axes
//     +--------+  +--------+

#include "support/plot/chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "support/plot/svg.h"
#include "support/plot/ticks.h"

namespace tessera::plot {
namespace {

// Okabe and Ito, "Color Universal Design", 2008: told apart by all kinds of colour vision.
constexpr std::array<std::string_view, 8> kColours = {"#0072b2", "#e69f00", "#009e73", "#d55e00",
                                                      "#cc79a7", "#56b4e9", "#000000", "#b8a800"};
constexpr std::string_view kFaint = "#dddddd", kInk = "#333333";
constexpr double kPlotWidth = 300, kPlotHeight = 190, kMargin = 16;
constexpr double kLeft = 58, kAbove = 24, kLetter = 6.2, kMostBelow = 120;
constexpr size_t kMostColumns = 3;

/// Names in the order in which they first appear.
std::vector<std::string> names_of(const std::vector<Chart>& charts) {
    std::vector<std::string> names;
    for (const Chart& chart : charts)
        for (const Series& series : chart.series)
            if (std::find(names.begin(), names.end(), series.name) == names.end())
                names.push_back(series.name);
    return names;
}

bool has_categories(const Chart& chart) {
    return chart.kind == ChartKind::kBars || chart.kind == ChartKind::kStacked;
}

/// A category is turned where it is wider than its place.
bool turns(const Chart& chart) {
    const double place = kPlotWidth / static_cast<double>(std::max<size_t>(1, chart.categories.size()));
    return std::any_of(chart.categories.begin(), chart.categories.end(), [&](const std::string& category) {
        return static_cast<double>(category.size()) * kLetter > place - 4;
    });
}

/// Room for the categories and the label of the x axis.
double room_below(const Chart& chart) {
    double room = 40;
    if (has_categories(chart) && turns(chart))
        for (const std::string& category : chart.categories)
            room = std::max(room, std::min(kMostBelow, 30 + static_cast<double>(category.size()) * kLetter));
    return room;
}

struct Axis {
    std::vector<double> ticks;
    double from, length;  ///< pixels; of y the length is negative

    double at(double number) const {
        return from + (number - ticks.front()) / (ticks.back() - ticks.front()) * length;
    }
};

class Panel {
public:
    Panel(Svg& svg, const Chart& chart, const std::vector<std::string>& names, Place corner)
        : svg_(svg), chart_(chart), names_(names), corner_(corner) {}

    void draw() {
        y_ = {ticks(std::min(0.0, lowest()), highest()), corner_.y + kPlotHeight, -kPlotHeight};
        svg_.text({corner_.x + kPlotWidth / 2, corner_.y - 8}, chart_.title,
                  {.size = 12, .anchor = Anchor::kMiddle, .is_bold = true});
        for (const double tick : y_.ticks) {
            svg_.line({corner_.x, y_.at(tick)}, {corner_.x + kPlotWidth, y_.at(tick)}, kFaint);
            svg_.text({corner_.x - 5, y_.at(tick) + 4}, tick_text(tick), {.anchor = Anchor::kEnd});
        }
        svg_.text({corner_.x - 44, corner_.y + kPlotHeight / 2}, chart_.y_label,
                  {.anchor = Anchor::kMiddle, .turned = -90});
        svg_.text({corner_.x + kPlotWidth / 2, corner_.y + kPlotHeight + room_below(chart_) - 6},
                  chart_.x_label, {.anchor = Anchor::kMiddle});
        if (has_categories(chart_))
            draw_bars();
        else
            draw_curves();
        svg_.line({corner_.x, corner_.y}, {corner_.x, corner_.y + kPlotHeight}, kInk);
        svg_.line({corner_.x, y_.at(0)}, {corner_.x + kPlotWidth, y_.at(0)}, kInk);
    }

private:
    std::string_view colour(const Series& series) const {
        const auto found = std::find(names_.begin(), names_.end(), series.name);
        return kColours[static_cast<size_t>(found - names_.begin()) % kColours.size()];
    }
    /// The ends of what is drawn above a category, or of all numbers.
    template <typename Better>
    double extreme(const Better& better) const {
        double result = 0;
        if (chart_.kind == ChartKind::kStacked) {
            for (size_t c = 0; c < chart_.categories.size(); ++c) {
                double sum = 0;
                for (const Series& series : chart_.series)
                    if (c < series.y.size() && std::isfinite(series.y[c])) sum += series.y[c];
                result = better(result, sum);
            }
            return result;
        }
        for (const Series& series : chart_.series)
            for (const double y : series.y)
                if (std::isfinite(y)) result = better(result, y);
        return result;
    }
    double highest() const {
        return extreme([](double a, double b) { return std::max(a, b); });
    }
    double lowest() const {
        return extreme([](double a, double b) { return std::min(a, b); });
    }

    void draw_bars() {
        const auto count = static_cast<double>(std::max<size_t>(1, chart_.categories.size()));
        const double place = kPlotWidth / count, gap = std::min(8.0, place * 0.2);
        const double beside = chart_.kind == ChartKind::kBars
                                  ? static_cast<double>(std::max<size_t>(1, chart_.series.size()))
                                  : 1;
        for (size_t c = 0; c < chart_.categories.size(); ++c) {
            const double left = corner_.x + place * static_cast<double>(c) + gap / 2;
            double below = 0, at = left;
            for (const Series& series : chart_.series) {
                const double y = c < series.y.size() ? series.y[c] : NAN;
                if (std::isfinite(y)) {
                    const double from = y_.at(below), to = y_.at(below + y);
                    svg_.rectangle({at, std::min(from, to)}, (place - gap) / beside, std::abs(to - from),
                                   colour(series));
                    if (chart_.kind == ChartKind::kStacked) below += y;
                }
                if (chart_.kind == ChartKind::kBars) at += (place - gap) / beside;
            }
            const Place under{left + (place - gap) / 2, corner_.y + kPlotHeight + 14};
            if (turns(chart_))
                svg_.text({under.x + 4, under.y - 4}, chart_.categories[c],
                          {.anchor = Anchor::kEnd, .turned = -60});
            else
                svg_.text(under, chart_.categories[c], {.anchor = Anchor::kMiddle});
        }
    }

    void draw_curves() {
        double low = std::numeric_limits<double>::infinity(), high = -low;
        for (const Series& series : chart_.series)
            for (const double x : series.x)
                if (std::isfinite(x)) low = std::min(low, x), high = std::max(high, x);
        const Axis x{ticks(std::min(0.0, low), high), corner_.x, kPlotWidth};
        for (const double tick : x.ticks)
            svg_.text({x.at(tick), corner_.y + kPlotHeight + 14}, tick_text(tick),
                      {.anchor = Anchor::kMiddle});
        if (chart_.has_diagonal) {
            const double end = std::min(x.ticks.back(), y_.ticks.back());
            svg_.line({x.at(0), y_.at(0)}, {x.at(end), y_.at(end)}, kInk);
        }
        for (const Series& series : chart_.series) {
            std::vector<Place> points;
            for (size_t k = 0; k < std::min(series.x.size(), series.y.size()); ++k)
                if (std::isfinite(series.x[k]) && std::isfinite(series.y[k]))
                    points.push_back({x.at(series.x[k]), y_.at(series.y[k])});
            if (chart_.kind == ChartKind::kLines && points.size() > 1) svg_.path(points, colour(series));
            for (const Place& point : points)
                svg_.circle(point, chart_.kind == ChartKind::kLines ? 2.5 : 2, colour(series));
        }
    }

    Svg& svg_;
    const Chart& chart_;
    const std::vector<std::string>& names_;
    Place corner_;
    Axis y_{};
};

}  // namespace

std::string draw(const std::vector<Chart>& charts, const std::string& title) {
    const std::vector<std::string> names = names_of(charts);
    const size_t columns = std::max<size_t>(1, std::min(kMostColumns, charts.size()));
    double below = 0;
    for (const Chart& chart : charts) below = std::max(below, room_below(chart));
    const double across = kLeft + kPlotWidth + kMargin, down = kAbove + kPlotHeight + below;
    const double head = 52;
    const size_t rows = (charts.size() + columns - 1) / columns;
    Svg svg(across * static_cast<double>(columns) + kMargin,
            head + static_cast<double>(rows) * down + kMargin);
    svg.text({kMargin, 22}, title, {.size = 14, .is_bold = true});
    double at = kMargin;
    for (size_t k = 0; k < names.size(); ++k) {
        svg.rectangle({at, 34}, 10, 10, kColours[k % kColours.size()]);
        svg.text({at + 14, 43}, names[k]);
        at += 30 + static_cast<double>(names[k].size()) * kLetter;
    }
    for (size_t k = 0; k < charts.size(); ++k) {
        const size_t row = k / columns, column = k % columns;
        Panel(svg, charts[k], names,
              {across * static_cast<double>(column) + kLeft, head + down * static_cast<double>(row) + kAbove})
            .draw();
    }
    return svg.finish();
}

}  // namespace tessera::plot
