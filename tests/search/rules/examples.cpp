#include "search/rules/examples.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include <fmt/core.h>

#include "ir/ops/decompose.h"
#include "support/error.h"

namespace tessera::rules::testing {
namespace {

using egraph::AttributePattern;
using egraph::BlockTerms;
using egraph::ClassId;
using egraph::EGraph;
using egraph::Leaf;
using egraph::Operator;
using egraph::Pattern;
using egraph::Selection;
using egraph::Term;
using egraph::TermId;

/// The pattern with inputs for holes.
TermId filled(EGraph& egraph, const Pattern& pattern, const Example& example) {
    if (!pattern.family)
        return egraph.add(Operator{.what = Leaf{ValueKind::kInput, pattern.hole},
                                   .results = {example.holes.at(pattern.hole)}},
                          {});
    std::vector<TermId> children;
    std::vector<TensorType> types;
    for (const Pattern& child : pattern.children) {
        children.push_back(filled(egraph, child, example));
        types.push_back(egraph.facts(children.back()).types.front());
    }
    egraph::Attributes attributes;
    for (const auto& [name, value] : pattern.attributes) {
        const auto* bound = std::get_if<egraph::Bound>(&value);
        attributes[name] = bound ? example.attributes.at(bound->name) : std::get<egraph::Attribute>(value);
    }
    // Attributes that the rule leaves open have their own names.
    for (const auto& [name, value] : example.attributes) attributes.try_emplace(name, value);
    const auto op = pattern.family->make(attributes, types);
    TESSERA_CHECK(op, "{} makes no operator of the example", pattern.family->name);
    return egraph.add(*op, std::move(children));
}

class Rebuilding {
public:
    Rebuilding(const EGraph& egraph, const std::vector<DimSymbol>& symbols) : egraph_(egraph) {
        graph_.name = "example";
        graph_.symbols = symbols;
        graph_.blocks.push_back({.name = "body"});
    }
    Graph run(TermId term) {
        graph_.outputs = {value_of(term)};
        return std::move(graph_);
    }

private:
    ValueId value_of(TermId term) {
        if (const auto known = values_.find(term); known != values_.end()) return known->second;
        const Operator& op = egraph_.op(term);
        std::vector<ValueId> operands;
        for (const TermId child : egraph_.term(term).children) operands.push_back(value_of(child));
        const auto* leaf = std::get_if<Leaf>(&op.what);
        const ValueId value{static_cast<int>(graph_.values.size())};
        graph_.values.push_back({.name = leaf ? leaf->name : fmt::format("v{}", graph_.values.size()),
                                 .kind = leaf ? leaf->kind : ValueKind::kIntermediate,
                                 .type = op.results.front(),
                                 .sources = {}});
        if (!leaf)
            graph_.blocks[0].nodes.push_back({.name = graph_.values.back().name,
                                              .op = std::get<DefinitionPtr>(op.what),
                                              .operands = std::move(operands),
                                              .results = {value},
                                              .previous = {}});
        return values_.emplace(term, value).first->second;
    }

    const EGraph& egraph_;
    Graph graph_;
    std::map<TermId, ValueId> values_;
};

double random_element(ElementType type, std::mt19937& random, bool has_special_numbers) {
    if (type == ElementType::kI32) return random() % 2;
    if (is_integer(type)) {
        const IntegerRange values = range(type);
        return static_cast<double>(values.low +
                                   random() % static_cast<uint64_t>(values.high - values.low + 1));
    }
    constexpr double kSpecial[] = {0.0, -0.0, std::numeric_limits<double>::infinity(),
                                   -std::numeric_limits<double>::infinity(),
                                   std::numeric_limits<double>::quiet_NaN()};
    if (has_special_numbers && random() % 8 == 0) return kSpecial[random() % std::size(kSpecial)];
    return round_to(type, (static_cast<double>(random() % 4096) - 2048) / 731);
}

}  // namespace

Graph graph_of(const RuleEntry& entry, const std::vector<DimSymbol>& symbols) {
    if (!entry.example.graph.empty()) return parse_graph(entry.example.graph, entry.rule.name());
    EGraph egraph;
    const TermId term = filled(egraph, entry.rule.from(), entry.example);
    return graph_of(egraph, term, symbols);
}

Graph graph_of(const EGraph& egraph, TermId term, const std::vector<DimSymbol>& symbols) {
    return Rebuilding(egraph, symbols).run(term);
}

Graph with_term(const Graph& graph, const EGraph& egraph, const BlockTerms& terms, TermId made) {
    const auto is_made = [&](TermId node) {
        const Term &a = egraph.term(node), &b = egraph.term(made);
        return a.op == b.op &&
               std::equal(a.children.begin(), a.children.end(), b.children.begin(), b.children.end(),
                          [&](TermId x, TermId y) { return egraph.are_equal(x, y); });
    };
    Selection selection;
    for (const ClassId e_class : egraph.classes()) {
        const std::vector<TermId>& nodes = egraph.nodes(e_class);
        auto chosen = std::find_if(nodes.begin(), nodes.end(), [&](TermId node) {
            return e_class == egraph.find(made) ? is_made(node)
                                                : !std::holds_alternative<Leaf>(egraph.op(node).what);
        });
        if (chosen != nodes.end()) selection.emplace(e_class, *chosen);
    }
    return with_block(graph, 0, egraph, terms, selection);
}

GraphCall random_call(const Graph& graph, unsigned seed, bool has_special_numbers) {
    std::mt19937 random(seed);
    GraphCall call;
    for (const DimSymbol& symbol : graph.symbols) {
        const int64_t steps = (symbol.high - symbol.low) / symbol.multiple_of;
        call.symbols[symbol.name] =
            symbol.low +
            static_cast<int64_t>(random() % static_cast<uint64_t>(steps + 1)) * symbol.multiple_of;
    }
    std::map<std::string, TensorData> constants;
    for (const Value& value : graph.values) {
        if (value.kind != ValueKind::kInput && value.kind != ValueKind::kConstant) continue;
        TensorData data{evaluate(value.type.shape, call.symbols), {}};
        size_t count = 1;
        for (const int64_t extent : data.shape) count *= static_cast<size_t>(extent);
        const bool may_be_special = has_special_numbers && !value.is_finite;
        for (size_t i = 0; i < count; ++i)
            data.values.push_back(random_element(value.type.element, random, may_be_special));
        (value.kind == ValueKind::kInput ? call.inputs : constants)[value.name] = std::move(data);
    }
    call.constant = [constants](const Value& value, int64_t) { return constants.at(value.name); };
    return call;
}

std::string difference(const GraphResult& found, const GraphResult& expected, double tolerance) {
    if (found.outputs.size() != expected.outputs.size()) return "another number of outputs";
    for (size_t o = 0; o < found.outputs.size(); ++o) {
        if (found.outputs[o].shape != expected.outputs[o].shape) return fmt::format("shape of output {}", o);
        for (size_t i = 0; i < found.outputs[o].values.size(); ++i) {
            const double a = found.outputs[o].values[i], b = expected.outputs[o].values[i];
            const bool is_same =
                std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b) || (std::isnan(a) && std::isnan(b));
            if (is_same || std::fabs(a - b) <= tolerance * std::fabs(b)) continue;
            return fmt::format("element {} of output {} is {}, expected {}", i, o, a, b);
        }
    }
    return {};
}

}  // namespace tessera::rules::testing
