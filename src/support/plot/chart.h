#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::plot {

enum class ChartKind : uint8_t {
    kLines,    ///< y over x, with a mark at every point
    kPoints,   ///< the same without lines
    kBars,     ///< a bar of each series beside each other, for every category
    kStacked,  ///< one bar for every category, the series above each other
};

struct Series {
    std::string name;
    std::vector<double> x;  ///< of lines and points
    std::vector<double> y;  ///< one for each x or category; NaN: there is none
    bool operator==(const Series&) const = default;
};

struct Chart {
    std::string title;
    std::string x_label, y_label;
    ChartKind kind = ChartKind::kLines;
    std::vector<std::string> categories;  ///< of bars
    std::vector<Series> series;
    bool has_diagonal = false;  ///< of points: the line on which x equals y
    bool operator==(const Chart&) const = default;
};

/// Charts beside and below each other, with one legend; each has axes of its own, that of y begins at 0 or
/// below. Series of one name have one colour.
std::string draw(const std::vector<Chart>& charts, const std::string& title);

}  // namespace tessera::plot
