#include "chip/measured_costs.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "support/error.h"
#include "support/shown.h"

namespace tessera::chip {
namespace {

constexpr double kMostInput = 1e15;
constexpr const char* kColumns =
    "expected cycles; operator with m, n, k, batch, results, iterations, operations, special; link with "
    "bytes";

std::vector<std::string_view> split(std::string_view text, char by) {
    std::vector<std::string_view> parts;
    for (size_t at = 0;;) {
        const size_t end = text.find(by, at);
        std::string_view part = text.substr(at, end == std::string_view::npos ? end : end - at);
        while (!part.empty() && (part.front() == ' ' || part.front() == '\t')) part.remove_prefix(1);
        while (!part.empty() && (part.back() == ' ' || part.back() == '\t' || part.back() == '\r'))
            part.remove_suffix(1);
        parts.push_back(part);
        if (end == std::string_view::npos) return parts;
        at = end + 1;
    }
}

/// Columns of shapes: the inputs of all kinds but the volume, which follows from the others.
bool is_input(std::string_view column) {
    if (column == "volume") return false;
    return std::any_of(machine::kTileKinds.begin(), machine::kTileKinds.end(), [&](machine::TileKind kind) {
        const auto inputs = machine::inputs_of(kind);
        return std::find(inputs.begin(), inputs.end(), column) != inputs.end();
    });
}

class TableReader {
public:
    TableReader(std::string_view text, const std::string& where) : lines_(split(text, '\n')), where_(where) {}

    MeasuredCosts read() {
        if (lines_.size() > kMostMeasurements)
            throw Error(where_, "",
                        fmt::format("has {} lines, expected at most {}", lines_.size(), kMostMeasurements));
        if (lines_.front().empty())
            throw Error(where_, "", "has an empty first line, expected names of columns", kColumns);
        read_columns();
        for (line_ = 2; line_ <= lines_.size(); ++line_)
            if (!lines_[line_ - 1].empty()) read_line();
        if (costs_.tiles.empty() && costs_.links.empty()) refuse("cycles", "has no measurement below it");
        return std::move(costs_);
    }

private:
    [[noreturn]] void refuse(std::string_view column, const std::string& problem,
                             const std::string& advice = {}) const {
        throw Error(fmt::format("{}:{}", where_, line_), std::string(column), problem, advice);
    }

    void read_columns() {
        columns_ = split(lines_.front(), ',');
        for (size_t c = 0; c < columns_.size(); ++c) {
            const std::string_view column = columns_[c];
            if (column != "operator" && column != "link" && column != "bytes" && column != "cycles" &&
                !is_input(column))
                refuse(shown(column), "is no column of measurements", kColumns);
            if (std::find(columns_.begin(), columns_.begin() + static_cast<std::ptrdiff_t>(c), column) !=
                columns_.begin() + static_cast<std::ptrdiff_t>(c))
                refuse(column, "is there twice");
        }
        if (!has("cycles")) refuse("cycles", "is missing: the column of measured times");
        if (!has("operator") && !has("link")) refuse("operator", "is missing, and so is `link`");
    }

    bool has(std::string_view column) const {
        return std::find(columns_.begin(), columns_.end(), column) != columns_.end();
    }

    /// Empty without the column.
    std::string_view cell(std::string_view column) const {
        const auto found = std::find(columns_.begin(), columns_.end(), column);
        return found == columns_.end() ? std::string_view()
                                       : cells_[static_cast<size_t>(found - columns_.begin())];
    }

    double number(std::string_view column, double least) const {
        const std::string_view text = cell(column);
        if (text.empty()) refuse(column, fmt::format("is missing for {}", subject_));
        double value = 0;
        const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (fault != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
            refuse(column, fmt::format("is {}, expected a number", shown(text)));
        if (value < least || value > kMostInput)
            refuse(column, fmt::format("is {:g}, expected {:g} to {:g}", value, least, kMostInput));
        return value;
    }

    void read_line() {
        cells_ = split(lines_[line_ - 1], ',');
        if (cells_.size() != columns_.size())
            refuse(columns_.back(), fmt::format("ends a line of {} entries, and there are {} columns",
                                                cells_.size(), columns_.size()));
        const std::string_view op = cell("operator"), link = cell("link");
        if (op.empty() == link.empty())
            refuse(op.empty() ? "operator" : "link",
                   op.empty() ? "is empty, and so is `link`"
                              : "is given beside `operator`, expected one of them");
        subject_ = shown(op.empty() ? link : op);
        CostSample sample;
        std::vector<std::string_view> used = {"operator", "link", "cycles"};
        if (op.empty()) {
            const MeasuredLink measured = link_named(link);
            used.emplace_back("bytes");
            sample.inputs.push_back(number("bytes", 0));
            sample.cycles = number("cycles", 1e-3);
            costs_.links[measured].push_back(std::move(sample));
        } else {
            const auto kind = machine::tile_kind_of(op);
            if (!kind)
                refuse("operator", fmt::format("is {}, expected product, attention, reduction or elementwise",
                                               shown(op)));
            double volume = 1;
            for (const std::string_view input : machine::inputs_of(*kind)) {
                used.push_back(input);
                const bool is_volume = input == "volume";
                sample.inputs.push_back(is_volume ? volume : number(input, 0));
                volume *= sample.inputs.back();
            }
            sample.cycles = number("cycles", 1e-3);
            costs_.tiles[*kind].push_back(std::move(sample));
        }
        for (size_t c = 0; c < columns_.size(); ++c)
            if (!cells_[c].empty() && std::find(used.begin(), used.end(), columns_[c]) == used.end())
                refuse(columns_[c],
                       fmt::format("is {}, and {} has no such input", shown(cells_[c]), subject_));
    }

    MeasuredLink link_named(std::string_view text) const {
        for (const MeasuredLink link : kMeasuredLinks)
            if (name(link) == text) return link;
        refuse("link", fmt::format("is {}, expected core, hbm or chip", shown(text)));
    }

    std::vector<std::string_view> lines_;
    const std::string& where_;
    size_t line_ = 1;
    std::vector<std::string_view> columns_, cells_;
    std::string subject_;  ///< the operator or link of the line
    MeasuredCosts costs_;
};

}  // namespace

std::string_view name(MeasuredLink link) {
    switch (link) {
        case MeasuredLink::kCore:
            return "core";
        case MeasuredLink::kHbm:
            return "hbm";
        case MeasuredLink::kChip:
            break;
    }
    return "chip";
}

MeasuredCosts read_measured_costs(std::string_view text, const std::string& where) {
    return TableReader(text, where).read();
}

}  // namespace tessera::chip
