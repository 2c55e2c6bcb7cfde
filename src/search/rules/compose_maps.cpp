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

/// True if it makes one new tensor, in F32 and without a predicate.
bool is_simple(const Node& node) {
    const Definition* d = node.definition();
    return d && !node.previous && node.results.size() == 1 && !d->where &&
           d->accumulator == ElementType::kF32 &&
           d->tensors[static_cast<size_t>(d->results().front())].role == Role::kOut;
}

bool is_map(const Node& node) {
    const Definition* d = node.definition();
    return is_simple(node) && d->monoid == Monoid::kNone && !d->post && d->body.size() == 1;
}

bool is_fold(const Node& node) {
    const Definition* d = node.definition();
    return is_simple(node) && d->monoid != Monoid::kNone && !d->is_recurrence();
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

/// Elements of the result, one for each value of the iterators that no sum runs over. Where an extent is 0,
/// as many as with 1. Empty where there are more than a number holds.
std::optional<int64_t> elements_made(const Definition& definition, const BoundExtents& extents) {
    std::vector<int64_t> all;
    for (size_t x = 0; x < extents.iterators.size(); ++x)
        if (!definition.iterators[x].is_reduction) all.push_back(extents.iterators[x]);
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
    if (static_cast<ptrdiff_t>(iterators.size()) !=
        std::ranges::count(producer.iterators, false, &Iterator::is_reduction))
        return std::nullopt;
    return iterators;
}

/// Puts the body of a producer into its reader, or the reader's around the fold of the producer.
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
        add_reductions();
        add_tensors();
        for (TensorDecl& tensor : tensors_)
            for (ExprPtr& component : tensor.map)
                if (tensor.is_result()) component = in_reader(component);
        const ExprPtr own = in_reader(reader_.body.front());
        Definition composed = producer_.monoid == Monoid::kNone ? reader_ : producer_;
        composed.name = reader_.name;
        composed.iterators = reader_.iterators;
        composed.dims = reader_.dims;
        composed.tensors = tensors_;
        if (producer_.monoid == Monoid::kNone) {
            composed.body = {own};
        } else {
            for (ExprPtr& each : composed.body) each = in_producer(each);
            composed.post = own;
        }
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

    void add_reductions() {
        for (size_t x = 0; x < producer_.iterators.size(); ++x) {
            if (!producer_.iterators[x].is_reduction) continue;
            Iterator added = producer_.iterators[x];
            added.name = unused(added.name);
            added.extent = in_producer(added.extent);
            coordinates_[x] = iterator_ref(static_cast<int>(reader_.iterators.size()));
            reader_.iterators.push_back(std::move(added));
        }
    }

    std::string unused(std::string name) {
        for (size_t i = 0; names_.contains(name); ++i) name = fmt::format("P{}", i);
        names_.insert(name);
        return name;
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
            tensor.name = unused(std::move(tensor.name));
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
        const ExprPtr made = producer_.monoid == Monoid::kNone ? producer_.body.front() : producer_.post;
        return with_reads(expr, [&](const Read& each) {
            // The value was rounded to F32 where it was stored.
            if (each.tensor == operand_) return cast(ElementType::kF32, in_producer(made ? made : folded()));
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
    Composer(const Graph& graph, bool fuses_folds) : fuses_folds_(fuses_folds) {
        result_.graph = graph;
        for (const Block& block : graph.blocks)
            for (const Node& node : block.nodes)
                for (const ValueId operand : node.operands) ++readers_[operand];
        for (const DimSymbol& symbol : graph.symbols) {
            lowest_[symbol.name] = symbol.low;
            highest_[symbol.name] = symbol.high;
        }
    }

    FusedMaps run() {
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
        drop_values(graph_, gone_);
        return std::move(result_);
    }

private:
    /// Puts one of its producers into the node, a map rather than a fold. @return false if there is none
    bool composes(Node& node, const std::vector<Node>& nodes) {
        std::vector<KeptApart> apart;
        for (const bool of_folds : {false, true}) {
            if (of_folds && !fuses_folds_) break;
            const Definition& reader = *node.definition();
            for (int t = 0; t < static_cast<int>(reader.tensors.size()); ++t) {
                if (reader.tensors[static_cast<size_t>(t)].role != Role::kIn) continue;
                const auto maker = makers_.find(lowering::value_of(node, t));
                if (maker == makers_.end()) continue;
                const Node& made = nodes[maker->second];
                if (is_map(made) == of_folds) continue;
                std::string reason = why_apart(node, t, made);
                if (reason.empty()) {
                    compose(node, t, made);
                    return true;
                }
                apart.push_back({node.name, made.name, std::move(reason)});
            }
        }
        result_.apart.insert(result_.apart.end(), apart.begin(), apart.end());
        return false;
    }

    /// The reason why the producer stays apart; empty if it may become a part of its reader.
    std::string why_apart(const Node& node, int operand, const Node& made) const {
        const ValueId value = lowering::value_of(node, operand);
        if (readers_.at(value) != 1) return fmt::format("its result is read {} times", readers_.at(value));
        if (needed_.contains(value)) return "its result is needed outside of the block";
        if (graph_[value].type.element != ElementType::kF32)
            return fmt::format("its result is {}, not f32", name(graph_[value].type.element));
        const bool is_folded = fuses_folds_ && is_fold(made);
        if (!is_map(made) && !is_folded) return "it is neither a map nor a fold without a predicate";
        if (!is_folded && is_copy(*made.definition())) return "it only moves elements";
        const Definition &reader = *node.definition(), &producer = *made.definition();
        const std::vector<Read> reads = reads_in(read_roots(reader));
        size_t occurrences = 0;
        walk(reader.body.front(), [&](const Expr& expr) {
            const auto* of = std::get_if<Read>(&expr.node);
            occurrences += of && of->tensor == operand;
            return true;
        });
        if (std::ranges::count(reads, operand, &Read::tensor) != 1 || occurrences != 1)
            return "an element is read more than once";
        if (reader.tensors.size() + producer.tensors.size() > kMostTensors ||
            expressions(reader.body.front()) + expressions(producer.body.front()) > kMostExpressions)
            return "both together are too large";
        const std::vector<ExprPtr>& at = std::ranges::find(reads, operand, &Read::tensor)->coordinates;
        if (is_folded && !is_element_by_element(reader, at)) return "it is not read element by element";
        for (const auto* symbols : {&lowest_, &highest_}) {
            const BoundExtents of_reader = bound_extents(reader, dims_of(reader, *symbols), node.name),
                               of_producer = bound_extents(producer, dims_of(producer, *symbols), made.name);
            const auto read = elements_made(reader, of_reader), all = elements_made(producer, of_producer);
            // A copy of all of it in another shape is a view. A transpose is made as its reader wants it.
            if (is_copy(reader) && read == all && !std::ranges::all_of(at, is_plain)) return "it is reshaped";
            if (!iterators_of_result(producer, of_producer)) return "it writes its result in parts";
            if (!read || !all || *read > *all || (is_folded && *read != *all))
                return "its elements would be computed more than once, or not all of them";
            if (!margins_of(reader, operand, of_reader, node.name).are_empty())
                return "its result is read outside of its bounds";
        }
        return {};
    }

    /// True if the coordinates are all iterators of the reader, each once.
    static bool is_element_by_element(const Definition& reader, const std::vector<ExprPtr>& at) {
        std::set<int> found;
        for (const ExprPtr& component : at)
            if (const auto* x = std::get_if<IteratorRef>(&component->node)) found.insert(x->index);
        return found.size() == at.size() && found.size() == reader.iterators.size();
    }

    void compose(Node& node, int operand, const Node& made) {
        const Definition& producer = *made.definition();
        const BoundExtents extents = bound_extents(producer, dims_of(producer, lowest_), made.name);
        Node composed =
            Composition(graph_, node, made, operand, *iterators_of_result(producer, extents)).run();
        gone_.insert(made.results.front());
        result_.fused.emplace_back(made.name, node.name);
        node.operands = std::move(composed.operands);
        node.op = std::move(composed.op);
    }

    FusedMaps result_;
    Graph& graph_ = result_.graph;
    bool fuses_folds_;
    std::map<ValueId, int> readers_;
    std::map<ValueId, size_t> makers_;  ///< nodes of the block
    std::map<std::string, int64_t> lowest_, highest_;
    std::set<ValueId> needed_, gone_;
};

}  // namespace

std::optional<Graph> with_composed_maps(const Graph& graph) {
    FusedMaps composed = Composer(graph, false).run();
    if (composed.fused.empty()) return std::nullopt;
    return std::move(composed.graph);
}

FusedMaps with_fused_maps(const Graph& graph) {
    return Composer(graph, true).run();
}

}  // namespace tessera::rules
