#include "chip/partition/explore_plots.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "support/error.h"

namespace tessera::partition {
namespace {

using machine::TomlFields;
using plot::ChartKind;

constexpr double kMostFactor = 1e30;

/// A table of texts with named columns, from lines with quoted cells. @pre made by `tessera chip explore`
class CsvTable {
public:
    explicit CsvTable(std::string_view csv) {
        std::vector<std::string> row(1);
        bool is_quoted = false;
        for (size_t i = 0; i < csv.size(); ++i) {
            const char c = csv[i];
            if (c == '"') {
                if (is_quoted && i + 1 < csv.size() && csv[i + 1] == '"')
                    row.back() += csv[++i];
                else
                    is_quoted = !is_quoted;
            } else if (c == ',' && !is_quoted) {
                row.emplace_back();
            } else if (c == '\n' && !is_quoted) {
                rows_.push_back(std::exchange(row, std::vector<std::string>(1)));
            } else {
                row.back() += c;
            }
        }
    }

    size_t size() const { return rows_.empty() ? 0 : rows_.size() - 1; }
    std::optional<size_t> column(const std::string& name) const {
        if (rows_.empty()) return std::nullopt;
        const auto found = std::find(rows_[0].begin(), rows_[0].end(), name);
        if (found == rows_[0].end()) return std::nullopt;
        return static_cast<size_t>(found - rows_[0].begin());
    }
    const std::string& at(size_t row, size_t column) const {
        static const std::string empty;
        return column < rows_[row + 1].size() ? rows_[row + 1][column] : empty;
    }

private:
    std::vector<std::vector<std::string>> rows_;
};

double number_of(const std::string& text) {
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    return text.empty() || *end != '\0' ? NAN : number;
}

/// The name of a file stands for its path.
std::string shown_text(const std::string& text) {
    if (!text.ends_with(".json")) return text;
    return text.substr(0, text.size() - 5)
        .substr(text.rfind('/') == std::string::npos ? 0 : text.rfind('/') + 1);
}

class ChartMaker {
public:
    ChartMaker(const PlotSpec& spec, std::string_view csv, const std::string& where)
        : spec_(spec), table_(csv), where_(where) {}

    std::vector<plot::Chart> make() {
        check_columns();
        for (size_t row = 0; row < table_.size(); ++row)
            if (is_wanted(row)) add(row);
        if (charts_.empty() && table_.size() > 0)
            throw Error(where_, "plots." + spec_.name + ".only", "keeps no row of the table");
        return std::move(charts_);
    }

private:
    size_t column(const std::string& name) const {
        const auto found = table_.column(name);
        if (!found)
            throw Error(where_, "plots." + spec_.name,
                        fmt::format("names {}, which is no column of the table", name));
        return *found;
    }
    void check_columns() const {
        for (const auto* names : {&spec_.x, &spec_.series, &spec_.panels})
            for (const std::string& name : *names) (void)column(name);
        for (const PlottedColumn& y : spec_.y) (void)column(y.column);
        for (const auto& [name, texts] : spec_.only) (void)column(name);
    }
    std::string joined(size_t row, const std::vector<std::string>& columns) const {
        std::string text;
        for (const std::string& name : columns) {
            const std::string own = shown_text(table_.at(row, column(name)));
            if (!own.empty()) text += (text.empty() ? "" : ", ") + own;
        }
        return text;
    }
    bool is_wanted(size_t row) const {
        return std::all_of(spec_.only.begin(), spec_.only.end(), [&](const auto& each) {
            const std::string& own = table_.at(row, column(each.first));
            const std::string shown = shown_text(own);
            return std::any_of(each.second.begin(), each.second.end(),
                               [&](const std::string& text) { return text == own || text == shown; });
        });
    }
    plot::Chart& chart_of(const std::string& title) {
        const auto found = std::find_if(charts_.begin(), charts_.end(),
                                        [&](const plot::Chart& chart) { return chart.title == title; });
        if (found != charts_.end()) return *found;
        charts_.push_back({.title = title,
                           .x_label = spec_.x_label,
                           .y_label = spec_.y_label,
                           .kind = spec_.kind,
                           .categories = {},
                           .series = {}});
        return charts_.back();
    }
    static plot::Series& series_of(plot::Chart& chart, const std::string& name) {
        const auto found = std::find_if(chart.series.begin(), chart.series.end(),
                                        [&](const plot::Series& each) { return each.name == name; });
        if (found != chart.series.end()) return *found;
        chart.series.push_back({.name = name, .x = {}, .y = {}});
        return chart.series.back();
    }

    void add(size_t row) {
        std::vector<double> numbers;
        for (const PlottedColumn& y : spec_.y)
            numbers.push_back(y.factor * number_of(table_.at(row, column(y.column))));
        if (std::none_of(numbers.begin(), numbers.end(), [](double y) { return std::isfinite(y); })) return;
        plot::Chart& chart = chart_of(joined(row, spec_.panels));
        const std::string own = joined(row, spec_.series);
        if (spec_.kind == ChartKind::kLines || spec_.kind == ChartKind::kPoints) {
            plot::Series& series = series_of(chart, own);
            series.x.push_back(spec_.x_factor * number_of(table_.at(row, column(spec_.x.front()))));
            series.y.push_back(numbers.front());
            return;
        }
        const std::string category = category_of(row);
        const auto found = std::find(chart.categories.begin(), chart.categories.end(), category);
        const auto place = static_cast<size_t>(found - chart.categories.begin());
        if (found == chart.categories.end()) chart.categories.push_back(category);
        for (size_t k = 0; k < spec_.y.size(); ++k) {
            plot::Series& series =
                series_of(chart, spec_.kind == ChartKind::kStacked ? spec_.y[k].label : own);
            series.y.resize(std::max(series.y.size(), place + 1), NAN);
            series.y[place] = numbers[k];
        }
    }

    /// A number among the texts is multiplied as one at an axis is.
    std::string category_of(size_t row) const {
        if (spec_.x_factor == 1) return joined(row, spec_.x);
        std::string text;
        for (const std::string& name : spec_.x) {
            const std::string own = table_.at(row, column(name));
            const double number = name.find('.') == std::string::npos ? NAN : number_of(own);
            text +=
                (text.empty() ? "" : ", ") +
                (std::isfinite(number) ? fmt::format("{:.4g}", number * spec_.x_factor) : shown_text(own));
        }
        return text;
    }

    const PlotSpec& spec_;
    CsvTable table_;
    const std::string& where_;
    std::vector<plot::Chart> charts_;
};

ChartKind kind_of(TomlFields& fields) {
    const std::string text = fields.text("kind");
    if (text == "lines") return ChartKind::kLines;
    if (text == "points") return ChartKind::kPoints;
    if (text == "bars") return ChartKind::kBars;
    if (text == "stacked") return ChartKind::kStacked;
    fields.refuse("kind", fmt::format("is {}, expected lines, points, bars or stacked", text));
}

std::string optional_text(TomlFields& fields, const char* key) {
    return fields.has(key) ? fields.text(key) : std::string();
}

std::vector<std::string> optional_texts(TomlFields& fields, const char* key) {
    return fields.has(key) ? fields.texts(key) : std::vector<std::string>{};
}

}  // namespace

std::vector<PlotSpec> read_plots(TomlFields& file, const std::vector<std::string>& columns) {
    std::vector<PlotSpec> plots;
    for (TomlFields& fields : file.tables("plots")) {
        PlotSpec spec{.name = fields.text("name"), .title = fields.text("title"), .kind = kind_of(fields)};
        if (spec.name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") !=
            std::string::npos)
            fields.refuse(
                "name", fmt::format("is {}, expected letters, digits, - and _: it names a file", spec.name));
        if (std::any_of(plots.begin(), plots.end(),
                        [&](const PlotSpec& each) { return each.name == spec.name; }))
            fields.refuse("name", fmt::format("is {} a second time", spec.name));
        spec.x = fields.texts("x");
        spec.x_label = optional_text(fields, "x_label");
        if (fields.has("x_factor")) spec.x_factor = fields.real("x_factor", -kMostFactor, kMostFactor);
        const double factor = fields.has("y_factor") ? fields.real("y_factor", -kMostFactor, kMostFactor) : 1;
        std::vector<std::string> labels = optional_texts(fields, "y_names");
        for (const std::string& column : fields.texts("y"))
            spec.y.push_back(
                {column, spec.y.size() < labels.size() ? labels[spec.y.size()] : column, factor});
        spec.y_label = optional_text(fields, "y_label");
        spec.series = optional_texts(fields, "series");
        spec.panels = optional_texts(fields, "panels");
        const bool is_curve = spec.kind == ChartKind::kLines || spec.kind == ChartKind::kPoints;
        if (spec.x.empty() || (is_curve && spec.x.size() > 1))
            fields.refuse("x", is_curve ? "expected one column" : "is empty, expected columns");
        if (spec.y.empty() || (spec.kind != ChartKind::kStacked && spec.y.size() > 1))
            fields.refuse("y", "expected one column, or several of stacked bars");
        if (fields.has("only")) {
            TomlFields only = fields.table("only");
            for (const std::string& column : columns)
                if (only.has(column)) spec.only[column] = only.texts(column);
            only.finish();
        }
        fields.finish();
        plots.push_back(std::move(spec));
    }
    return plots;
}

std::vector<plot::Chart> charts_of(const PlotSpec& spec, std::string_view csv, const std::string& where) {
    return ChartMaker(spec, csv, where).make();
}

}  // namespace tessera::partition
