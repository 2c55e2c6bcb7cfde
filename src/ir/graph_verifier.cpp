#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "ir/graph.h"
#include "support/checked.h"
#include "support/error.h"

// A value can be read where it is visible: inputs and constants everywhere, a state in the block that updates
// it, a node's result in the rest of its block, and behind the block the results of a block of one
// repetition, or the value that a repeated one carries out. Shapes are compared at both bounds of the
// symbols: an extent is linear in one symbol, so that two forms which agree there agree between.

namespace tessera {
namespace {

bool is_identifier(std::string_view text) {
    const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    return !text.empty() && !std::isdigit(static_cast<unsigned char>(text.front())) &&
           std::all_of(text.begin(), text.end(), is_word);
}

class GraphVerifier {
public:
    GraphVerifier(const Graph& graph, const std::string& where)
        : graph_(graph), where_(where), visible_(graph.values.size()), made_(graph.values.size()) {}

    void run() {
        check_symbols();
        for (const Point& point : graph_.points) check_point(point);
        for (const Value& value : graph_.values) check_value(value);
        for (size_t i = 0; i < graph_.values.size(); ++i)
            visible_[i] =
                graph_.values[i].kind == ValueKind::kInput || graph_.values[i].kind == ValueKind::kConstant;
        for (const Block& block : graph_.blocks) check_block(block);
        std::set<ValueId> outputs;
        for (const ValueId output : graph_.outputs) {
            check_id(output, "outputs");
            if (!outputs.insert(output).second) fail(graph_[output].name, "is an output twice");
            if (!is_visible(output)) fail(graph_[output].name, "is an output that no block makes");
        }
    }

private:
    [[noreturn]] void fail(const std::string& entity, const std::string& problem,
                           const std::string& advice = {}) const {
        throw Error(where_, entity, problem, advice);
    }

    void check_name(std::set<std::string>& names, const std::string& name, std::string_view what) const {
        if (!is_identifier(name))
            fail(name, fmt::format("is no name of a {}", what), "names are [A-Za-z_][A-Za-z0-9_]*");
        if (!names.insert(name).second) fail(name, fmt::format("names two {}s", what));
    }

    void check_id(ValueId id, const std::string& user) const {
        if (id.index < 0 || static_cast<size_t>(id.index) >= graph_.values.size())
            fail(user, fmt::format("refers to value {} of {}", id.index, graph_.values.size()));
    }

    bool is_visible(ValueId id) const { return visible_[static_cast<size_t>(id.index)]; }
    void show(ValueId id) { visible_[static_cast<size_t>(id.index)] = true; }
    void hide(ValueId id) { visible_[static_cast<size_t>(id.index)] = false; }

    void check_symbols() {
        std::set<std::string> names;
        for (const DimSymbol& symbol : graph_.symbols) {
            check_name(names, symbol.name, "symbol");
            if (symbol.low < 1 || symbol.high < symbol.low || symbol.multiple_of < 1 ||
                symbol.low % symbol.multiple_of != 0 || symbol.high % symbol.multiple_of != 0)
                fail(symbol.name,
                     fmt::format("has bounds {}..{} multiple of {}", symbol.low, symbol.high,
                                 symbol.multiple_of),
                     "1 <= low <= high, both multiples");
            low_[symbol.name] = symbol.low;
            high_[symbol.name] = symbol.high;
        }
    }

    void check_point(const Point& point) {
        check_name(point_names_, point.name, "point");
        if (!(point.weight > 0) || !std::isfinite(point.weight))
            fail(point.name, fmt::format("has weight {}, expected more than 0", point.weight));
        for (const auto& [name, value] : point.values)
            if (!graph_.symbol(name))
                fail(point.name, fmt::format("gives a value to {}, which is no symbol", name));
        for (const DimSymbol& symbol : graph_.symbols) {
            const auto found = point.values.find(symbol.name);
            if (found == point.values.end()) fail(point.name, fmt::format("has no value of {}", symbol.name));
            if (found->second < symbol.low || found->second > symbol.high ||
                found->second % symbol.multiple_of != 0)
                fail(point.name, fmt::format("has {} = {}, expected {}..{} multiple of {}", symbol.name,
                                             found->second, symbol.low, symbol.high, symbol.multiple_of));
        }
    }

    void check_value(const Value& value) {
        check_name(value_names_, value.name, "value");
        int64_t elements = 1;
        for (const Dim& dim : value.type.shape) {
            if (dim.factor < 1) fail(value.name, fmt::format("has an extent of {}", dim.factor));
            if (dim.symbol && !graph_.symbol(*dim.symbol))
                fail(value.name, fmt::format("has the extent {}, which is no symbol", *dim.symbol));
            const auto extent = checked_mul(dim.factor, dim.symbol ? high_.at(*dim.symbol) : int64_t{1});
            const auto product = extent ? checked_mul(elements, *extent) : std::nullopt;
            if (!product) fail(value.name, "has more elements than 64 bits count");
            elements = *product;
        }
        const std::string illegal = why_illegal(value.type.layout, value.type.shape.size());
        if (!illegal.empty()) fail(value.name, "has an illegal layout: " + illegal);
        if ((value.kind == ValueKind::kConstant) == value.sources.empty())
            fail(value.name,
                 value.sources.empty() ? "is a constant without sources" : "has sources, but is no constant");
        if (value.is_finite && (value.kind != ValueKind::kConstant || is_integer(value.type.element)))
            fail(value.name, "is finite, which is said of constants of floats alone");
        if (value.concatenation) check_concatenation(value, *value.concatenation);
    }

    void check_concatenation(const Value& value, const Concatenation& whole) const {
        if (value.kind != ValueKind::kConstant) fail(value.name, "is concatenated, but is no constant");
        if (whole.axis >= value.type.shape.size())
            fail(value.name,
                 fmt::format("is concatenated along axis {} of {}", whole.axis, value.type.shape.size()));
        if (whole.extents.size() < 2 || value.sources.size() % whole.extents.size() != 0)
            fail(value.name,
                 fmt::format("has {} sources for {} parts", value.sources.size(), whole.extents.size()));
        int64_t left = evaluate(value.type.shape[whole.axis], high_);
        for (const int64_t extent : whole.extents) {
            if (extent < 1 || extent > left)
                fail(value.name, fmt::format("has a part of extent {} where {} are left", extent, left));
            left -= extent;
        }
        if (left != 0) fail(value.name, fmt::format("has parts that leave {} of its extent", left));
        // Parts are copied by the byte.
        if (bits(value.type.element) < 8)
            fail(value.name, fmt::format("is a concatenation of {}", name(value.type.element)));
    }

    void check_block(const Block& block) {
        check_name(block_names_, block.name, "block");
        if (block.repeat < 1) fail(block.name, fmt::format("is repeated {} times", block.repeat));
        if (block.carried_in.has_value() != block.carried_out.has_value())
            fail(block.name, "carries a value in or out, but not both");
        if (block.carried_in) {
            check_id(*block.carried_in, block.name);
            if (!is_visible(*block.carried_in))
                fail(block.name,
                     fmt::format("carries in {}, which nothing has made", graph_[*block.carried_in].name));
        }
        for (const StateUpdate& update : block.states) check_state_before(block, update);
        made_here_.clear();
        for (const Node& node : block.nodes) check_node(block, node);
        if (block.carried_out) check_carried(block);
        for (const StateUpdate& update : block.states) {
            check_made_here(block, update.after);
            check_same_type(update.before, update.after);
            hide(update.before);
        }
        if (block.repeat > 1)
            for (const ValueId id : made_here_)
                if (id != block.carried_out) hide(id);
    }

    void check_state_before(const Block& block, const StateUpdate& update) {
        check_id(update.before, block.name);
        const Value& before = graph_[update.before];
        if (before.kind != ValueKind::kState)
            fail(before.name, fmt::format("is updated by {}, but is no state", block.name));
        if (!states_.insert(update.before).second) fail(before.name, "is a state that is updated twice");
        show(update.before);
    }

    void check_made_here(const Block& block, ValueId id) const {
        check_id(id, block.name);
        if (!made_here_.contains(id))
            fail(graph_[id].name, fmt::format("is not made in block {}", block.name));
    }

    void check_carried(const Block& block) const {
        check_made_here(block, *block.carried_out);
        check_same_type(*block.carried_in, *block.carried_out);
    }

    void check_same_type(ValueId a, ValueId b) const {
        if (graph_[a].type != graph_[b].type)
            fail(graph_[b].name,
                 fmt::format("has another type than {}, whose contents it replaces", graph_[a].name));
    }

    void check_node(const Block& block, const Node& node) {
        check_name(node_names_, node.name, "node");
        for (const ValueId operand : node.operands) check_operand(block, node, operand);
        if (node.previous) check_operand(block, node, *node.previous);
        if (node.results.empty()) fail(node.name, "has no result");
        if (const Definition* definition = node.definition())
            check_structured(node, *definition);
        else if (std::get<Composite>(node.op).kind.empty())
            fail(node.name, "is a composite without a name");
        for (const ValueId result : node.results) {
            check_id(result, node.name);
            if (graph_[result].kind != ValueKind::kIntermediate)
                fail(node.name, fmt::format("makes {}, which is no intermediate value", graph_[result].name));
            if (made_[static_cast<size_t>(result.index)]) fail(graph_[result].name, "is made twice");
            if (!node.previous) check_rounding(graph_[result]);
            made_[static_cast<size_t>(result.index)] = true;
            made_here_.insert(result);
            show(result);
        }
    }

    /// A state has the type that it was given; any other result of a node is an activation.
    void check_rounding(const Value& value) const {
        const ElementType element = value.type.element;
        if (value.type.rounding == Rounding::kExact && !is_integer(element) && bits(element) < 32)
            fail(value.name,
                 fmt::format("is an activation of {}, but its rounding policy is exact", name(element)),
                 "exact activations are f32; `rounded` allows the type of the weights");
    }

    void check_operand(const Block& block, const Node& node, ValueId operand) const {
        check_id(operand, node.name);
        const Value& value = graph_[operand];
        if (!is_visible(operand) && value.kind == ValueKind::kState)
            fail(node.name,
                 fmt::format("reads the state {}, which block {} does not update", value.name, block.name),
                 "a state that is only read is an input");
        if (!is_visible(operand))
            fail(node.name, fmt::format("reads {}, which nothing before it has made", value.name));
        if (value.kind == ValueKind::kConstant && value.repetitions() != 1 &&
            value.repetitions() != block.repeat)
            fail(value.name, fmt::format("has {} sources, but is read by {}, which is repeated {} times",
                                         value.repetitions(), block.name, block.repeat));
    }

    void check_structured(const Node& node, const Definition& definition) const {
        verify(definition, fmt::format("{}: {}", where_, node.name));
        check_dims(node, definition);
        std::vector<std::pair<size_t, ValueId>> bound;  // tensor of the definition, value
        size_t operands = 0, results = 0;
        bool updates = false;
        for (size_t i = 0; i < definition.tensors.size(); ++i) {
            const Role role = definition.tensors[i].role;
            const bool is_operand = role == Role::kIndex || role == Role::kIn;
            size_t& next = is_operand ? operands : results;
            const std::vector<ValueId>& values = is_operand ? node.operands : node.results;
            if (next < values.size()) bound.emplace_back(i, values[next]);
            ++next;
            updates |= role == Role::kUpdate;
        }
        if (operands != node.operands.size() || results != node.results.size())
            fail(node.name,
                 fmt::format("has {} operands and {} results, but {} has {} and {}", node.operands.size(),
                             node.results.size(), definition.name, operands, results));
        if (updates != node.previous.has_value())
            fail(node.name, updates ? "updates a result without previous contents"
                                    : "has previous contents, but no update");
        for (const auto& [tensor, value] : bound) check_element(node, definition.tensors[tensor], value);
        if (node.previous) check_same_type(*node.previous, node.results.front());
        check_shapes(node, definition, bound, low_);
        check_shapes(node, definition, bound, high_);
    }

    void check_dims(const Node& node, const Definition& definition) const {
        for (const DimSymbol& dim : definition.dims) {
            const DimSymbol* symbol = graph_.symbol(dim.name);
            if (!symbol)
                fail(node.name, fmt::format("has the dim {}, which is no symbol of the graph", dim.name));
            if (symbol->low < dim.low || symbol->high > dim.high ||
                symbol->multiple_of % dim.multiple_of != 0)
                fail(node.name,
                     fmt::format("has {} in {}..{} multiple of {}, which does not hold that of the graph",
                                 dim.name, dim.low, dim.high, dim.multiple_of));
        }
    }

    void check_element(const Node& node, const TensorDecl& tensor, ValueId id) const {
        check_id(id, node.name);
        if (graph_[id].type.element != tensor.type)
            fail(node.name, fmt::format("has {} for {}: {}, expected {}", graph_[id].name, tensor.name,
                                        name(graph_[id].type.element), name(tensor.type)));
    }

    void check_shapes(const Node& node, const Definition& definition,
                      const std::vector<std::pair<size_t, ValueId>>& bound,
                      const std::map<std::string, int64_t>& symbols) const {
        const BoundExtents extents = bound_extents(definition, dims_of(definition, symbols), node.name);
        for (const auto& [tensor, id] : bound) {
            const std::vector<int64_t> found = evaluate(graph_[id].type.shape, symbols);
            if (found != extents.shapes[tensor])
                fail(node.name, fmt::format("has {} for {}: shape [{}], expected [{}]", graph_[id].name,
                                            definition.tensors[tensor].name, fmt::join(found, ", "),
                                            fmt::join(extents.shapes[tensor], ", ")));
        }
    }

    const Graph& graph_;
    const std::string& where_;
    std::vector<bool> visible_;
    std::vector<bool> made_;
    std::set<ValueId> made_here_;
    std::set<ValueId> states_;
    std::set<std::string> point_names_, value_names_, block_names_, node_names_;
    std::map<std::string, int64_t> low_, high_;
};

}  // namespace

void verify(const Graph& graph, const std::string& where) {
    GraphVerifier(graph, where).run();
}

}  // namespace tessera
