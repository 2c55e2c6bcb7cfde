#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "machine/toml_fields.h"
#include "support/plot/chart.h"

namespace tessera::partition {

/// A column of a table, of whose numbers each is multiplied.
struct PlottedColumn {
    std::string column;
    std::string label;  ///< at the axis or in the legend
    double factor = 1;
};

/// A picture of a table: which columns are drawn, and how.
struct PlotSpec {
    std::string name;  ///< of the file, without its ending
    std::string title;
    plot::ChartKind kind = plot::ChartKind::kLines;
    std::vector<std::string>
        x;  ///< lines: one column of numbers; bars: columns whose texts make the categories
    std::string x_label;
    double x_factor = 1;
    std::vector<PlottedColumn> y;  ///< stacked bars: several; otherwise one
    std::string y_label;
    std::vector<std::string> series;  ///< columns whose texts tell the series apart; none in stacked bars
    std::vector<std::string> panels;  ///< columns whose texts tell the panels apart
    /// Only rows with one of these texts in the column.
    std::map<std::string, std::vector<std::string>> only;
};

/// The tables `plots` of a space; `columns` are those by which rows may be chosen. @throws Error naming a
/// field
std::vector<PlotSpec> read_plots(machine::TomlFields& file, const std::vector<std::string>& columns);

/// The charts of a plot: a panel for each combination of `panels` that the table has, in its order. Rows
/// without a number are left out.
/// @throws Error naming `where` and a column that the table does not have
std::vector<plot::Chart> charts_of(const PlotSpec& spec, std::string_view csv, const std::string& where);

}  // namespace tessera::partition
