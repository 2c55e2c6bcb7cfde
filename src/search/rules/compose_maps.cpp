// The reader's read becomes the producer's body, at the coordinates of the read:
//
//     P[r, c] = Q[r, c] * S[r]                 int8 weights with a scale for each row
//     Y[t, c] = P[I[t], c] + B[c]       =>     Y[t, c] = f32(Q[I[t], c] * S[I[t]]) + B[c]
#include "search/rules/compose_maps.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "lowering/storage.h"
#include "search/egraph/block_terms.h"
#include "search/rules/algebra/draft.h"
#include "search/rules/algebra/formulas.h"
#include "search/rules/reads_outside.h"
#include "support/checked.h"

namespace tessera::rules {
namespace {

/// Larger operators are left apart, by the tensors of both and the nodes of both bodies: a loop needs
/// registers for what it reads.
constexpr size_t kMostTensors = 11, kMostExpressions = 64;

bool is_map(const Node& node) {
    const Definition* d = node.definition();
    return d && !node.previous && node.results.size() == 1 && d->monoid == Monoid::kNone && !d->where &&
           !d->post && d->accumulator == ElementType::kF32 && d->body.size() == 1 &&
           d->tensors[static_cast<size_t>(d->results().front())].role == Role::kOut;
}

/// True if the body only moves elements: such an operator may be a view.
bool is_copy(const Definition& definition) {
    const auto* of = std::get_if<Read>(&definition.body.front()->node);
    return of && definition.tensors[static_cast<size_t>(of->tensor)].type ==
                     definition.tensors[static_cast<size_t>(definition.results().front())].type;
}

/// True of the axes of a transpose, which may have axes of one element besides.
bool is_plain(const ExprPtr& component) {
    return std::holds_alternative<IteratorRef>(component->node) ||
           std::holds_alternative<Number>(component->node);
}

size_t expressions(const ExprPtr& body) {
    size_t count = 0;
    walk(body, [&](const Expr&) { return ++count > 0; });
    return count;
}

/// Where an extent is 0, as many as with 1. Empty where there are more than a number holds.
std::optional<int64_t> iterations(const BoundExtents& extents) {
    std::vector<int64_t> all = extents.iterators;
    for (int64_t& extent : all) extent = std::max<int64_t>(extent, 1);
    return checked_product(std::span<const int64_t>(all));
}

/// The producer's iterator of each axis of its result, which is whole; empty if it writes otherwise.
std::optional<std::vector<int>> iterators_of_result(const Definition& producer, const BoundExtents& extents) {
    const auto result = static_cast<size_t>(producer.results().front());
    std::vector<int> iterators;
    for (size_t axis = 0; axis < producer.tensors[result].map.size(); ++axis) {
        const auto* x = std::get_if<IteratorRef>(&producer.tensors[result].map[axis]->node);
        if (!x || std::ranges::find(iterators, x->index) != iterators.end() ||
            extents.iterators[static_cast<size_t>(x->index)] != extents.shapes[result][axis])
            return std::nullopt;
        iterators.push_back(x->index);
    }
    if (iterators.size() != producer.iterators.size()) return std::nullopt;
    return iterators;
}

/// Puts the body of a producer into its reader.
class Composition {
public:
    /// @param iterators of the axes of the producer's result. @param operand tensor of the reader
    Composition(const Graph& graph, const Node& reader, const Node& made, int operand,
                const std::vector<int>& iterators)
        : graph_(graph),
          node_(reader),
          reader_(*reader.definition()),
          made_(made),
          producer_(*made.definition()),
          operand_(operand) {
        for (const Iterator& x : reader_.iterators) names_.insert(x.name);
        for (const DimSymbol& dim : reader_.dims) names_.insert(dim.name);
        for (const TensorDecl& tensor : reader_.tensors) names_.insert(tensor.name);
        for (const DimSymbol& dim : producer_.dims) names_.insert(dim.name);
        const std::vector<Read> reads = reads_in(reader_.body);
        const Read& of = *std::ranges::find(reads, operand_, &Read::tensor);
        coordinates_.resize(producer_.iterators.size());
        for (size_t axis = 0; axis < iterators.size(); ++axis)
            coordinates_[static_cast<size_t>(iterators[axis])] = of.coordinates[axis];
    }

    /// The reader with what it has read as its operands.
    Node run() {
        add_dims();
        add_tensors();
        for (TensorDecl& tensor : tensors_)
            for (ExprPtr& component : tensor.map)
                if (tensor.is_result()) component = in_reader(component);
        Definition composed = reader_;
        composed.tensors = tensors_;
        composed.body = {in_reader(reader_.body.front())};
        return {.name = {},
                .op = std::make_shared<const Definition>(std::move(composed)),
                .operands = operands_,
                .results = {},
                .previous = {}};
    }

private:
    void add_dims() {
        for (const DimSymbol& dim : producer_.dims) {
            int at = reader_.dim(dim.name);
            if (at < 0) {
                at = static_cast<int>(reader_.dims.size());
                reader_.dims.push_back(dim);
            }
            dims_.push_back(at);
        }
    }

    /// Index operands come first, then the others in the order of the reader, then the result.
    void add_tensors() {
        for (const Role role : {Role::kIndex, Role::kIn}) {
            for (int t = 0; t < static_cast<int>(reader_.tensors.size()); ++t) {
                if (t == operand_ && role == Role::kIn)
                    add_producer(Role::kIn);
                else if (reader_.tensors[static_cast<size_t>(t)].role == role && t != operand_)
                    add_own(t);
            }
            if (role == Role::kIndex) add_producer(Role::kIndex);
        }
        add_own(reader_.results().front());
    }

    void add_own(int t) {
        const TensorDecl& tensor = reader_.tensors[static_cast<size_t>(t)];
        if (tensor.is_result()) {
            of_reader_[t] = static_cast<int>(tensors_.size());
            tensors_.push_back(tensor);
        } else {
            of_reader_[t] = add(lowering::value_of(node_, t), tensor);
        }
    }

    void add_producer(Role role) {
        for (int t = 0; t < static_cast<int>(producer_.tensors.size()); ++t) {
            TensorDecl tensor = producer_.tensors[static_cast<size_t>(t)];
            if (tensor.role != role) continue;
            const ValueId value = lowering::value_of(made_, t);
            for (ExprPtr& component : tensor.map) component = in_producer(component);
            for (size_t i = 0; names_.contains(tensor.name); ++i) tensor.name = fmt::format("P{}", i);
            names_.insert(tensor.name);
            tensor.shape.emplace();
            for (const Dim& dim : graph_[value].type.shape) tensor.shape->push_back(extent_of(reader_, dim));
            of_producer_[t] = add(value, std::move(tensor));
        }
    }

    /// @return its place. What is read of one value at the same place is one operand
    int add(ValueId value, TensorDecl tensor) {
        const auto is_same = [&](size_t at) {
            return operands_[at] == value && tensors_[at].role == tensor.role &&
                   std::ranges::equal(tensors_[at].map, tensor.map,
                                      [](const ExprPtr& a, const ExprPtr& b) { return same(a, b); });
        };
        size_t at = 0;
        while (at < operands_.size() && !is_same(at)) ++at;
        if (at == operands_.size()) {
            tensors_.push_back(std::move(tensor));
            operands_.push_back(value);
        }
        return static_cast<int>(at);
    }

    /// An expression of the producer in the names of the composed definition.
    ExprPtr in_producer(const ExprPtr& expr) const {
        return with_leaves(expr, [&](const Expr& leaf) -> ExprPtr {
            if (const auto* x = std::get_if<IteratorRef>(&leaf.node))
                return in_reader(coordinates_[static_cast<size_t>(x->index)]);
            if (const auto* dim = std::get_if<DimRef>(&leaf.node))
                return dim_ref(dims_[static_cast<size_t>(dim->index)]);
            const auto* of = std::get_if<Read>(&leaf.node);
            if (!of) return nullptr;
            std::vector<ExprPtr> at;
            for (const ExprPtr& component : of->coordinates) at.push_back(in_producer(component));
            return read(of_producer_.at(of->tensor), std::move(at), of->declared_map);
        });
    }

    ExprPtr in_reader(const ExprPtr& expr) const {
        return with_reads(expr, [&](const Read& each) {
            // The value was rounded to F32 where it was stored.
            if (each.tensor == operand_) return cast(ElementType::kF32, in_producer(producer_.body.front()));
            std::vector<ExprPtr> at;
            for (const ExprPtr& component : each.coordinates) at.push_back(in_reader(component));
            return read(of_reader_.at(each.tensor), std::move(at), each.declared_map);
        });
    }

    const Graph& graph_;
    const Node& node_;
    Definition reader_;
    const Node& made_;
    const Definition& producer_;
    const int operand_;
    std::set<std::string> names_;
    std::vector<int> dims_;                       ///< of the producer's
    std::vector<ExprPtr> coordinates_;            ///< of the reader, by iterator of the producer
    std::vector<TensorDecl> tensors_;             ///< of the composed operator
    std::vector<ValueId> operands_;               ///< of the same
    std::map<int, int> of_reader_, of_producer_;  ///< positions in `tensors_`
};

class Composer {
public:
    explicit Composer(const Graph& graph) : graph_(graph) {
        for (const Block& block : graph.blocks)
            for (const Node& node : block.nodes)
                for (const ValueId operand : node.operands) ++readers_[operand];
        for (const DimSymbol& symbol : graph.symbols) {
            lowest_[symbol.name] = symbol.low;
            highest_[symbol.name] = symbol.high;
        }
    }

    std::optional<Graph> run() {
        for (size_t b = 0; b < graph_.blocks.size(); ++b) {
            const std::vector<ValueId> needed = egraph::needed_values(graph_, b);
            needed_ = {needed.begin(), needed.end()};
            std::vector<Node>& nodes = graph_.blocks[b].nodes;
            makers_.clear();
            for (size_t n = 0; n < nodes.size(); ++n) {
                while (is_map(nodes[n]) && composes(nodes[n], nodes)) {
                }
                for (const ValueId result : nodes[n].results) makers_[result] = n;
            }
            std::erase_if(nodes, [&](const Node& node) { return gone_.contains(node.results.front()); });
        }
        if (gone_.empty()) return std::nullopt;
        drop_values(graph_, gone_);
        return std::move(graph_);
    }

private:
    /// Puts one of its producers into the node. @return false if there is none
    bool composes(Node& node, const std::vector<Node>& nodes) {
        const Definition& reader = *node.definition();
        for (int t = 0; t < static_cast<int>(reader.tensors.size()); ++t) {
            if (reader.tensors[static_cast<size_t>(t)].role != Role::kIn) continue;
            const ValueId value = lowering::value_of(node, t);
            if (readers_[value] != 1 || needed_.contains(value) ||
                graph_[value].type.element != ElementType::kF32)
                continue;
            const auto maker = makers_.find(value);
            if (maker == makers_.end()) continue;
            const Node& made = nodes[maker->second];
            if (!is_map(made) || is_copy(*made.definition()) || !may_compose(node, t, made)) continue;
            compose(node, t, made);
            return true;
        }
        return false;
    }

    bool may_compose(const Node& node, int operand, const Node& made) const {
        const Definition &reader = *node.definition(), &producer = *made.definition();
        const std::vector<Read> reads = reads_in(read_roots(reader));
        if (std::ranges::count(reads, operand, &Read::tensor) != 1) return false;
        size_t occurrences = 0;
        walk(reader.body.front(), [&](const Expr& expr) {
            const auto* of = std::get_if<Read>(&expr.node);
            occurrences += of && of->tensor == operand;
            return true;
        });
        if (occurrences != 1 || reader.tensors.size() + producer.tensors.size() > kMostTensors ||
            expressions(reader.body.front()) + expressions(producer.body.front()) > kMostExpressions)
            return false;
        const std::vector<ExprPtr>& at = std::ranges::find(reads, operand, &Read::tensor)->coordinates;
        const std::vector<Dim>& shape = graph_[made.results.front()].type.shape;
        for (const auto* symbols : {&lowest_, &highest_}) {
            const BoundExtents of_reader = bound_extents(reader, dims_of(reader, *symbols), node.name),
                               of_producer = bound_extents(producer, dims_of(producer, *symbols), made.name);
            const auto read = iterations(of_reader), all = iterations(of_producer);
            // A copy of all of it in another shape is a view. A transpose is made as its reader wants it.
            if (is_copy(reader) && read == all && !std::ranges::all_of(at, is_plain)) return false;
            const auto margins = margins_of(reader, operand, shape, of_reader, node.name);
            if (!iterators_of_result(producer, of_producer) || !read || !all || *read > *all || !margins ||
                !margins->are_empty())
                return false;
        }
        return true;
    }

    void compose(Node& node, int operand, const Node& made) {
        const Definition& producer = *made.definition();
        const BoundExtents extents = bound_extents(producer, dims_of(producer, lowest_), made.name);
        Node composed =
            Composition(graph_, node, made, operand, *iterators_of_result(producer, extents)).run();
        gone_.insert(made.results.front());
        node.operands = std::move(composed.operands);
        node.op = std::move(composed.op);
    }

    Graph graph_;
    std::map<ValueId, int> readers_;
    std::map<ValueId, size_t> makers_;  ///< nodes of the block
    std::map<std::string, int64_t> lowest_, highest_;
    std::set<ValueId> needed_, gone_;
};

}  // namespace

std::optional<Graph> with_composed_maps(const Graph& graph) {
    return Composer(graph).run();
}

}  // namespace tessera::rules
