#include <algorithm>
#include <cctype>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "ir/graph.h"
#include "ir/graph_text.h"

namespace tessera {
namespace {

std::string dim_text(const Dim& dim) {
    if (dim.is_constant()) return std::to_string(dim.factor);
    return dim.factor == 1 ? *dim.symbol : fmt::format("{} * {}", dim.factor, *dim.symbol);
}

/// A number that reads back as one with a fraction.
std::string real_text(double value) {
    std::string text = fmt::format("{}", value);
    return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

std::string attribute_text(const std::variant<int64_t, double, std::string>& value) {
    if (const auto* integer = std::get_if<int64_t>(&value)) return std::to_string(*integer);
    if (const auto* real = std::get_if<double>(&value)) return real_text(*real);
    return quoted(std::get<std::string>(value));
}

std::string names_text(const std::vector<std::string>& names) {
    if (const auto series = series_of(names))
        return fmt::format("{} for {}..{}{}", quoted(series->pattern), series->first, series->last,
                           series->step == 1 ? "" : fmt::format(" step {}", series->step));
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + quoted(name);
    return text;
}

std::string sources_text(const Value& value) {
    if (value.sources.empty()) return "";
    std::string text;
    for (size_t part = 0; part < value.parts(); ++part) {
        std::vector<std::string> names;
        for (int64_t r = 0; r < value.repetitions(); ++r) names.push_back(value.source(r, part));
        text += (part == 0 ? " from " : " then ") + names_text(names);
    }
    if (value.concatenation)
        text += fmt::format(" along {} of {}", value.concatenation->axis,
                            fmt::join(value.concatenation->extents, ", "));
    return text;
}

class GraphPrinter {
public:
    explicit GraphPrinter(const Graph& graph) : graph_(graph) {}

    std::string run() {
        line(0, "graph {}", quoted(graph_.name));
        for (const DimSymbol& symbol : graph_.symbols)
            line(0, "symbol {} in {}..{}{}", symbol.name, symbol.low, symbol.high,
                 symbol.multiple_of == 1 ? "" : fmt::format(" multiple of {}", symbol.multiple_of));
        for (const Point& point : graph_.points) print(point);
        text_ += '\n';
        for (const Value& value : graph_.values)
            line(0, "{} {}: {}{}{}", tessera::name(value.kind), value.name, tessera::print(value.type),
                 value.is_finite ? " finite" : "", sources_text(value));
        for (const Block& block : graph_.blocks) print(block);
        text_ += '\n';
        if (!graph_.outputs.empty()) line(0, "output {}", names(graph_.outputs));
        return std::move(text_);
    }

private:
    template <typename... Arguments>
    void line(int depth, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
        text_.append(static_cast<size_t>(depth) * 2, ' ');
        fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
        text_ += '\n';
    }

    const std::string& name(ValueId id) const { return graph_[id].name; }

    std::string names(const std::vector<ValueId>& ids) const {
        std::string text;
        for (const ValueId id : ids) text += (text.empty() ? "" : ", ") + name(id);
        return text;
    }

    void print(const Point& point) {
        std::string values;
        for (const auto& [symbol, value] : point.values)
            values += fmt::format("{}{} = {}", values.empty() ? "" : ", ", symbol, value);
        line(0, "point {} weight {}: {}", point.name, point.weight, values);
    }

    void print(const Block& block) {
        text_ += '\n';
        const std::string repeat = block.repeat == 1 ? "" : fmt::format(" repeat {}", block.repeat);
        const std::string carried = block.carried_in ? fmt::format(" carry {} -> {}", name(*block.carried_in),
                                                                   name(block.carried_out.value()))
                                                     : "";
        line(0, "block {}{}{}", block.name, repeat, carried);
        for (const StateUpdate& update : block.states)
            line(1, "update {} -> {}", name(update.before), name(update.after));
        for (const Node& node : block.nodes) print(node);
    }

    void print(const Node& node) {
        const std::string previous = node.previous ? fmt::format(" over {}", name(*node.previous)) : "";
        line(1, "node {}({}){} -> {}", node.name, names(node.operands), previous, names(node.results));
        if (const Definition* definition = node.definition()) {
            print_indented(tessera::print(*definition));
            return;
        }
        const Composite& composite = std::get<Composite>(node.op);
        std::string attributes;
        for (const auto& [attribute, value] : composite.attributes)
            attributes +=
                fmt::format("{}{} = {}", attributes.empty() ? ": " : ", ", attribute, attribute_text(value));
        line(2, "composite {}{}", composite.kind, attributes);
    }

    void print_indented(std::string_view lines) {
        while (!lines.empty()) {
            const size_t end = std::min(lines.find('\n'), lines.size());
            line(2, "{}", lines.substr(0, end));
            lines.remove_prefix(std::min(end + 1, lines.size()));
        }
    }

    const Graph& graph_;
    std::string text_;
};

}  // namespace

std::string print(const TensorType& type) {
    std::string shape;
    for (const Dim& dim : type.shape) shape += (shape.empty() ? "" : ", ") + dim_text(dim);
    std::string text = fmt::format("{}[{}]", name(type.element), shape);
    if (type.layout != Layout{}) text += " " + print(type.layout);
    if (type.accumulator != ElementType::kF32) text += fmt::format(" acc {}", name(type.accumulator));
    if (type.rounding == Rounding::kWeights) text += " rounded";
    return text;
}

std::string print(const Graph& graph) {
    return GraphPrinter(graph).run();
}

}  // namespace tessera
