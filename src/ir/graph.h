#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "ir/definition.h"
#include "ir/tensor_type.h"

/// The graph of one *step* of a model (docs/ir.md): a sequence of blocks, each called `repeat`
/// times with its own constants and state. All values are immutable; state is updated functionally (the
/// update's result is a new value) and becomes in place by alias analysis.
namespace tessera {

using DefinitionPtr = std::shared_ptr<const Definition>;

/// Index into Graph::values.
struct ValueId {
    int index = -1;
    bool operator==(const ValueId&) const = default;
    auto operator<=>(const ValueId&) const = default;
};

enum class ValueKind : uint8_t {
    kInput,         ///< given to every step
    kConstant,      ///< weights and tables: one tensor, or one for each repetition of its block
    kState,         ///< previous contents of a state; one for each repetition of its block
    kIntermediate,  ///< made by a node
};
/// As a printed graph spells it: an intermediate is a `value`.
std::string_view name(ValueKind kind);

/// How several tensors of the checkpoint make one constant: as they lie behind each other along an axis.
struct Concatenation {
    size_t axis = 0;
    std::vector<int64_t> extents;  ///< of each part along the axis; two or more
    bool operator==(const Concatenation&) const = default;
};

struct Value {
    std::string name;  ///< unique in the graph
    ValueKind kind = ValueKind::kIntermediate;
    TensorType type;
    /// Constants: the names under which the checkpoint holds it, one for each repetition of the block (one in
    /// all for a constant that every repetition shares). A concatenation has those of all parts of the first
    /// repetition, then those of the next. Empty otherwise.
    std::vector<std::string> sources;
    std::optional<Concatenation> concatenation = {};
    /// Constants of floats: no element is infinite or NaN, in any repetition.
    bool is_finite = false;

    size_t parts() const { return concatenation ? concatenation->extents.size() : 1; }
    /// How many contents the constant has.
    int64_t repetitions() const { return static_cast<int64_t>(sources.size() / parts()); }
    /// The source of the contents at a repetition of the block. @pre of a verified graph
    const std::string& source(int64_t repetition, size_t part) const {
        const size_t own = repetitions() == 1 ? 0 : static_cast<size_t>(repetition);
        return sources.at(own * parts() + part);
    }
    /// Shape of the tensor behind each source. @pre a constant, of a verified graph
    std::vector<int64_t> part_shape(size_t part) const;
};

/// A composite operator: known by name, with a decomposition into structured ones in `ops/`.
struct Composite {
    std::string kind;
    std::map<std::string, std::variant<int64_t, double, std::string>> attributes;
    bool operator==(const Composite&) const = default;
};

/// One operator. A structured one binds a value to each tensor of its definition, whose dims are symbols of
/// the graph (by name).
struct Node {
    std::string name;  ///< unique in the graph
    std::variant<DefinitionPtr, Composite> op;
    std::vector<ValueId> operands;    ///< structured: index operands and operands, in the definition's order
    std::vector<ValueId> results;     ///< structured: results, in the definition's order
    std::optional<ValueId> previous;  ///< contents before an `update`

    const Definition* definition() const {
        const auto* d = std::get_if<DefinitionPtr>(&op);
        return d ? d->get() : nullptr;
    }
};

/// State `before` the block and its new value after it.
struct StateUpdate {
    ValueId before;
    ValueId after;
    bool operator==(const StateUpdate&) const = default;
};

/// Nodes in topological order, run `repeat` times. The first repetition reads `carried_in`, each one makes
/// `carried_out` (same type), which the next one reads in its place; the next block reads carried_out of the
/// last.
struct Block {
    std::string name;
    int64_t repeat = 1;
    std::optional<ValueId> carried_in;
    std::optional<ValueId> carried_out;
    std::vector<StateUpdate> states;
    std::vector<Node> nodes;

    const Node* find(std::string_view node_name) const;
    /// The node of this name. @pre there is one
    const Node& node(std::string_view node_name) const;
};

/// Values of all symbols at which a cost is evaluated.
struct Point {
    std::string name;
    double weight = 1;
    std::map<std::string, int64_t> values;
};

struct Graph {
    std::string name;
    std::vector<DimSymbol> symbols;  ///< by name those of the definitions
    std::vector<Point> points;
    std::vector<Value> values;
    std::vector<Block> blocks;
    std::vector<ValueId> outputs;

    const Value& operator[](ValueId id) const { return values[static_cast<size_t>(id.index)]; }
    std::optional<ValueId> find(std::string_view value_name) const;
    const DimSymbol* symbol(std::string_view symbol_name) const;
};

/// The state of which the value is the new contents; the value itself if there is none.
ValueId state_of(const Graph& graph, ValueId value);

/// Takes values out that nothing names any more. The ids of others change.
void drop_values(Graph& graph, const std::set<ValueId>& values);

/// The extent at these values of the symbols.
int64_t evaluate(const Dim& dim, const std::map<std::string, int64_t>& symbols);
std::vector<int64_t> evaluate(const std::vector<Dim>& shape, const std::map<std::string, int64_t>& symbols);
/// Values of a definition's dims, in its order, from those of the graph's symbols.
std::vector<int64_t> dims_of(const Definition& definition, const std::map<std::string, int64_t>& symbols);

/// The textual form (docs/ir.md); parse_graph(print(g)) equals g.
std::string print(const Graph& graph);
Graph parse_graph(std::string_view text, const std::string& where);
/// Types of operands and results agree with the definitions at the bounds of the symbols, nodes are in
/// topological order, names are unique, carried values and states have one type. @throws Error.
void verify(const Graph& graph, const std::string& where);

}  // namespace tessera
