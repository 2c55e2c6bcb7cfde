// A fold is split along what it reads: the interior, where every access is inside, and the border around it.
//
//     Y[o] = sum(X[o + k - 1] * W[k])        X of 5, o: 5, k: 3
//     P[x + 1] = X[x]                         P of 7: 0 X X X X X 0, which nothing writes at its ends
//     Y[o] = sum(P[o + k] * W[k])
//
// The definition itself is not split: its border would be as many operators as there are ways to leave, each
// with loops of its own and nothing that could join its results in one kernel. What is split is the copy: its
// interior is what it writes, the rest is filled with the identity because no iteration writes it.
#include "search/rules/pad_operands.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/ops/define.h"
#include "search/rules/algebra/draft.h"
#include "search/rules/algebra/formulas.h"
#include "search/rules/reads_outside.h"
#include "support/error.h"

namespace tessera::rules {
namespace {

bool is_fold(const Definition& definition) {
    switch (definition.monoid) {
        case Monoid::kSum:
        case Monoid::kProd:
        case Monoid::kMax:
        case Monoid::kMin:
            return !definition.where;
        case Monoid::kNone:
        case Monoid::kSoftmaxSum:
        case Monoid::kInOrder:
            return false;
    }
    return false;
}

/// True if a tensor of this type can hold the identity.
bool holds_identity(ElementType type, Monoid monoid) {
    return bits(type) >= 8 && (identity(monoid) == 0 || !is_integer(type));
}

/// "o + k - 1" plus 1 is "o + k".
ExprPtr plus(const ExprPtr& coordinate, int64_t margin) {
    if (margin == 0) return coordinate;
    const auto* difference = std::get_if<Apply>(&coordinate->node);
    if (difference && difference->function == Function::kSub &&
        same(difference->arguments[1], number(margin)))
        return difference->arguments[0];
    return apply(Function::kAdd, {coordinate, number(margin)});
}

class Padding {
public:
    explicit Padding(const Graph& graph) : graph_(graph) {
        for (const Value& value : graph.values) value_names_.insert(value.name);
        for (const Block& block : graph.blocks)
            for (const Node& node : block.nodes) node_names_.insert(node.name);
        for (const DimSymbol& symbol : graph.symbols) {
            lowest_[symbol.name] = symbol.low;
            highest_[symbol.name] = symbol.high;
        }
    }

    std::optional<Graph> run() {
        for (Block& block : graph_.blocks) {
            std::vector<Node> nodes;
            copies_.clear();
            for (Node& node : block.nodes) {
                if (node.definition() && is_fold(*node.definition())) pad(node, nodes);
                nodes.push_back(std::move(node));
            }
            block.nodes = std::move(nodes);
        }
        if (!is_changed_) return std::nullopt;
        return std::move(graph_);
    }

private:
    void pad(Node& node, std::vector<Node>& before) {
        Definition definition = *node.definition();
        const BoundExtents extents = bound_extents(definition, dims_of(definition, lowest_), node.name),
                           highest = bound_extents(definition, dims_of(definition, highest_), node.name);
        int64_t iterations = 1;
        for (const int64_t extent : extents.iterators) iterations *= std::max<int64_t>(extent, 1);
        size_t operand = 0;
        bool has_moved = false;
        for (size_t t = 0; t < definition.tensors.size(); ++t) {
            const TensorDecl& tensor = definition.tensors[t];
            if (tensor.is_result()) continue;
            ValueId& value = node.operands[operand++];
            if (tensor.role != Role::kIn || !tensor.shape ||
                !holds_identity(tensor.type, definition.monoid) ||
                is_read_behind(definition, static_cast<int>(t)))
                continue;
            const std::optional<Margins> margins =
                steady_margins_of(definition, static_cast<int>(t), extents, highest, node.name);
            if (!margins || margins->are_empty()) continue;
            const std::optional<std::vector<Dim>> larger = padded_shape(graph_[value].type.shape, *margins);
            if (!larger) continue;
            int64_t elements = 1;
            for (const Dim& dim : *larger) elements *= evaluate(dim, lowest_);
            if (elements > iterations) continue;
            value = padded(value, *margins, *larger, definition.monoid, before);
            shift(definition, static_cast<int>(t), *margins, graph_[value].type.shape);
            has_moved = true;
        }
        is_changed_ = is_changed_ || has_moved;
        if (has_moved) node.op = std::make_shared<const Definition>(std::move(definition));
    }

    /// Behind the fold what lies outside is 0.
    static bool is_read_behind(const Definition& definition, int tensor) {
        if (!definition.post) return false;
        const std::vector<Read> reads = reads_in({definition.post});
        return std::ranges::find(reads, tensor, &Read::tensor) != reads.end();
    }

    /// Reads of the tensor move with its contents.
    static void shift(Definition& definition, int tensor, const Margins& margins,
                      const std::vector<Dim>& shape) {
        const auto moved = [&](std::vector<ExprPtr> coordinates) {
            for (size_t axis = 0; axis < coordinates.size(); ++axis)
                coordinates[axis] = plus(coordinates[axis], margins.before[axis]);
            return coordinates;
        };
        TensorDecl& decl = definition.tensors[static_cast<size_t>(tensor)];
        for (ExprPtr& body : definition.body)
            body = with_reads(body, [&](const Read& each) {
                const bool is_it = each.tensor == tensor;
                return read(each.tensor, is_it ? moved(each.coordinates) : each.coordinates,
                            each.declared_map);
            });
        decl.map = moved(decl.map);
        for (size_t axis = 0; axis < shape.size(); ++axis)
            (*decl.shape)[axis] = extent_of(definition, shape[axis]);
    }

    /// With room for the margins. A multiple of a symbol stays one: where it has more room than that, nothing
    /// reads it. Nothing if the symbol may be 0.
    std::optional<std::vector<Dim>> padded_shape(const std::vector<Dim>& shape,
                                                 const Margins& margins) const {
        std::vector<Dim> larger = shape;
        for (size_t axis = 0; axis < shape.size(); ++axis) {
            const int64_t more = margins.before[axis] + margins.after[axis],
                          lowest = shape[axis].symbol ? lowest_.at(*shape[axis].symbol) : 1;
            if (more == 0) continue;
            if (lowest < 1) return std::nullopt;
            larger[axis].factor += (more + lowest - 1) / lowest;
        }
        return larger;
    }

    /// The copy with a border; the first reader makes it.
    ValueId padded(ValueId value, const Margins& margins, const std::vector<Dim>& shape, Monoid monoid,
                   std::vector<Node>& nodes) {
        const auto [known, is_new] = copies_.emplace(std::tuple(value, margins, identity(monoid)), ValueId{});
        if (!is_new) return known->second;
        const TensorType& type = graph_[value].type;
        std::vector<std::string> iterators, read, written, extents;
        TensorType larger = type;
        larger.shape = shape;
        for (size_t axis = 0; axis < type.shape.size(); ++axis) {
            const std::string x = fmt::format("x{}", axis);
            const int64_t before = margins.before[axis];
            iterators.push_back(fmt::format("{}: {}", x, ops::text(type.shape[axis])));
            read.push_back(x);
            written.push_back(before == 0 ? x : fmt::format("{} + {}", x, before));
            extents.push_back(ops::text(larger.shape[axis]));
        }
        // An element that no iteration writes is 0 in a map, and the identity in a fold.
        const bool is_map = identity(monoid) == 0;
        if (!is_map) iterators.emplace_back("r*: 1");
        const std::string element(name(type.element));
        const DefinitionPtr copy = ops::define(
            graph_.symbols,
            fmt::format("op pad({})\nin X {}[{}]\nout P {}[{}] of [{}] = {}\n{}", fmt::join(iterators, ", "),
                        element, fmt::join(read, ", "), element, fmt::join(written, ", "),
                        fmt::join(extents, ", "), is_map ? "X" : fmt::format("{}(X)", name(monoid)),
                        ops::arithmetic_line(type.element)));
        larger.layout = {};
        // Inputs of 16 bits are copied as they are, which for an activation is a policy of rounding.
        if (!is_integer(type.element) && bits(type.element) < 32) larger.rounding = Rounding::kWeights;
        const std::string wanted = graph_[value].name + "_padded";
        graph_.values.push_back({.name = unused(value_names_, wanted),
                                 .kind = ValueKind::kIntermediate,
                                 .type = larger,
                                 .sources = {}});
        known->second = ValueId{static_cast<int>(graph_.values.size()) - 1};
        nodes.push_back({.name = unused(node_names_, wanted),
                         .op = copy,
                         .operands = {value},
                         .results = {known->second},
                         .previous = {}});
        return known->second;
    }

    static std::string unused(std::set<std::string>& names, const std::string& wanted) {
        std::string name = wanted;
        for (int i = 2; !names.insert(name).second; ++i) name = fmt::format("{}_{}", wanted, i);
        return name;
    }

    Graph graph_;
    std::map<std::string, int64_t> lowest_, highest_;
    bool is_changed_ = false;
    std::set<std::string> value_names_, node_names_;
    std::map<std::tuple<ValueId, Margins, double>, ValueId> copies_;  ///< of the block
};

}  // namespace

std::optional<Graph> with_padded_operands(const Graph& graph) {
    return Padding(graph).run();
}

}  // namespace tessera::rules
