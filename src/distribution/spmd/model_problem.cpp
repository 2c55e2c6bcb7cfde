#include "distribution/spmd/model_problem.h"

#include <algorithm>

#include <fmt/core.h>

#include "distribution/form.h"
#include "distribution/grains.h"
#include "support/error.h"

// A repeated block stands in the problem once, with the time of all repetitions:
//
//   embed -> x        wanted: F
//            x@layer  given: F -> layer (times 30) -> y   wanted: F
//                                                     y@head  given: F -> head
//
// The memory of constants and states is that of all repetitions. A state is the result of its update: its
// form before the step is the one that the update makes.

namespace tessera::spmd {
namespace {

using distribution::Form;
using distribution::Sbp;
using Symbols = std::map<std::string, int64_t>;

// Larger values at the upper bounds of the symbols, such as the scores of attention, never exist whole.
constexpr int64_t kMostExchangedBits = int64_t{8} * 64 * 1024 * 1024;

struct Sizes {
    Symbols symbols;
    double times = 0;
};

// The points with weights that add up to 1, and both ends of the symbols.
std::vector<Sizes> sizes_of(const Graph& graph) {
    Sizes low, high;
    for (const DimSymbol& symbol : graph.symbols) {
        low.symbols[symbol.name] = symbol.low;
        high.symbols[symbol.name] = symbol.high;
    }
    std::vector<Sizes> sizes{high};
    double weights = 0;
    for (const Point& point : graph.points) weights += point.weight;
    for (const Point& point : graph.points) sizes.push_back({point.values, point.weight / weights});
    if (graph.points.empty()) sizes.front().times = 1;
    if (low.symbols != high.symbols) sizes.push_back(low);
    return sizes;
}

int64_t bits_of(const TensorType& type, const Symbols& symbols) {
    int64_t bits = tessera::bits(type.element);
    for (const int64_t extent : evaluate(type.shape, symbols))
        if (__builtin_mul_overflow(bits, extent, &bits)) return std::numeric_limits<int64_t>::max() / 65536;
    return bits;
}

class Builder {
public:
    Builder(const Graph& graph, const Cluster& cluster, const ModelOptions& options, const Form& carried)
        : graph_(graph),
          options_(options),
          carried_(carried),
          sizes_(sizes_of(graph)),
          whole_(cluster.placement.rank()) {
        problem().placement = cluster.placement;
        problem().flops_per_second = cluster.flops_per_second;
        problem().bytes_per_second = cluster.bytes_per_second;
        problem().memory = cluster.memory;
        problem().cut = options.cut;
        problem().collectives = options.collectives;
        for (const ValueId output : graph.outputs)
            most_exchanged_ = std::max(most_exchanged_, bits_of(graph[output].type, sizes_.front().symbols));
        held_ = sizes_.front().symbols;
        for (const auto& [name, value] : options.held) held_[name] = value;
    }

    ModelProblem run() {
        for (const Block& block : graph_.blocks) made_.blocks.emplace_back(block.name, block.repeat);
        for (size_t b = 0; b < graph_.blocks.size(); ++b)
            for (size_t n = 0; n < graph_.blocks[b].nodes.size(); ++n)
                add(static_cast<int>(b), static_cast<int>(n));
        for (const Block& block : graph_.blocks) {
            if (block.carried_in) want(*block.carried_in, carried_);
            if (block.carried_out) want(*block.carried_out, carried_);
        }
        for (const ValueId output : graph_.outputs) want(output, whole_);
        distribution::derive_grains(problem());
        return std::move(made_);
    }

private:
    distribution::Problem& problem() { return made_.problem; }

    /// The block in which a value is read as carried in: from the repetition before, or from a block of
    /// repetitions.
    int carried_block(ValueId value, int block) const {
        const Block& here = graph_.blocks[static_cast<size_t>(block)];
        if (here.carried_in == value) return block;
        for (int b = 0; b < block; ++b)
            if (graph_.blocks[static_cast<size_t>(b)].carried_out == value ||
                graph_.blocks[static_cast<size_t>(b)].carried_in == value)
                return block;
        return -1;
    }

    int number(ValueId id, int block) {
        const int in = carried_block(id, block);
        const auto [at, is_new] =
            made_.numbers.try_emplace({id.index, in}, static_cast<int>(problem().values.size()));
        if (!is_new) return at->second;
        const tessera::Value& value = graph_[id];
        distribution::Value& each = problem().values.emplace_back();
        const Block& home = graph_.blocks[static_cast<size_t>(block)];
        const bool is_state =
            std::ranges::any_of(home.states, [&](const StateUpdate& s) { return s.after == id; });
        made_.places.push_back({id, in, block, is_state ? ValueKind::kState : value.kind});
        each.name = in < 0 ? value.name
                           : fmt::format("{}@{}", value.name, graph_.blocks[static_cast<size_t>(in)].name);
        each.shape = fixed_shape(value.type);
        each.type = value.type.element;
        each.is_constant = value.kind == ValueKind::kConstant;
        each.only_slices =
            options_.is_for_execution && (each.is_constant || bits(each.type) < 8 ||
                                          bits_of(value.type, sizes_.front().symbols) > most_exchanged_);
        if (in >= 0)
            each.given = carried_;
        else if (value.kind == ValueKind::kInput)
            each.given = whole_;
        const double repeat = static_cast<double>(graph_.blocks[static_cast<size_t>(block)].repeat);
        for (const Sizes& size : sizes_)
            if (size.times > 0)
                each.moves.emplace_back(size.times * repeat, bits_of(value.type, size.symbols));
        each.held_bits = held_bits(value, block);
        return at->second;
    }

    int64_t held_bits(const tessera::Value& value, int block) const {
        if (value.kind == ValueKind::kConstant) return bits_of(value.type, held_) * value.repetitions();
        const Block& here = graph_.blocks[static_cast<size_t>(block)];
        for (const StateUpdate& state : here.states)
            if (&graph_[state.after] == &value) return bits_of(value.type, held_) * here.repeat;
        int64_t most = 0;
        for (const Sizes& size : sizes_)
            if (size.times > 0) most = std::max(most, bits_of(value.type, size.symbols));
        return most;
    }

    void want(ValueId id, const Form& form) {
        const auto at = made_.numbers.find({id.index, -1});
        if (at == made_.numbers.end()) return;  // nothing makes it
        distribution::Value& value = problem().values[static_cast<size_t>(at->second)];
        if (value.wanted && *value.wanted != form)
            throw Error(graph_.name, graph_[id].name, "is carried and an output, in two forms",
                        "copy it for the output");
        value.wanted = form;
    }

    facts::BoundDefinition bound(const Node& node, const Symbols& symbols) const {
        facts::BoundDefinition bound =
            facts::bind_unfilled(*node.definition(), dims_of(*node.definition(), symbols),
                                 fmt::format("{}: {}", graph_.name, node.name));
        bound.definition.name = node.name;
        return bound;
    }

    void add(int block, int at) {
        const Block& here = graph_.blocks[static_cast<size_t>(block)];
        const Node& node = here.nodes[static_cast<size_t>(at)];
        if (!node.definition())
            throw Error(graph_.name, node.name, "is a composite, which has no definition",
                        "decompose the graph first");
        const Definition& definition = *node.definition();
        const auto op = static_cast<int>(problem().operators.size());
        distribution::Operator each{.bound = bound(node, sizes_.front().symbols), .values = {}};
        for (const Sizes& size : sizes_)
            each.points.push_back({bound(node, size.symbols), size.times * static_cast<double>(here.repeat)});
        for (const Iterator& iterator : definition.iterators)
            each.may_split.push_back(std::holds_alternative<Number>(iterator.extent->node));
        if (node.previous && graph_[*node.previous].kind != ValueKind::kState)
            throw Error(graph_.name, node.name,
                        fmt::format("updates {}, which is no state", graph_[*node.previous].name),
                        "only updates of states can be distributed");
        size_t operand = 0, result = 0;
        for (const TensorDecl& tensor : definition.tensors) {
            const bool is_result = tensor.role == Role::kOut || tensor.role == Role::kUpdate;
            const ValueId id = is_result ? node.results[result++] : node.operands[operand++];
            if (graph_[id].kind == ValueKind::kState)
                throw Error(graph_.name, graph_[id].name,
                            fmt::format("is read by {} before its update", node.name),
                            "let it read the state behind the update");
            const int value = number(id, block);
            distribution::Value& of = problem().values[static_cast<size_t>(value)];
            if (is_result)
                of.maker = op;
            else if (of.readers.empty() || of.readers.back() != op)
                of.readers.push_back(op);
            each.values.push_back(value);
        }
        each.allows = [is_for_execution = options_.is_for_execution, &node](const std::vector<Form>& forms) {
            return is_allowed(*node.definition(), forms, is_for_execution);
        };
        made_.nodes.emplace_back(block, at);
        problem().operators.push_back(std::move(each));
    }

    static bool is_allowed(const Definition& definition, const std::vector<Form>& forms,
                           bool is_for_execution) {
        for (size_t t = 0; t < forms.size(); ++t)
            for (const Sbp& entry : forms[t]) {
                if (entry.kind != Sbp::Kind::kPartial) continue;
                const TensorDecl& tensor = definition.tensors[t];
                if (tensor.role == Role::kUpdate) return false;
                if (is_for_execution &&
                    (entry.monoid == Monoid::kSoftmaxSum || tensor.type != ElementType::kF32))
                    return false;
            }
        return true;
    }

    const Graph& graph_;
    const ModelOptions& options_;
    const Form& carried_;
    const std::vector<Sizes> sizes_;
    const Form whole_;
    Symbols held_;
    int64_t most_exchanged_ = kMostExchangedBits;
    ModelProblem made_;
};

}  // namespace

int ModelProblem::value_of(ValueId value, int block) const {
    const auto carried = numbers.find({value.index, block});
    return carried != numbers.end() ? carried->second : numbers.at({value.index, -1});
}

std::vector<int64_t> fixed_shape(const TensorType& type) {
    std::vector<int64_t> shape;
    for (const Dim& dim : type.shape) shape.push_back(dim.is_constant() ? dim.factor : 1);
    return shape;
}

std::vector<Form> carried_forms(const Graph& graph, const Cluster& cluster, facts::Cut cut) {
    std::vector<std::vector<int64_t>> shapes;
    for (const Block& block : graph.blocks)
        for (const auto& carried : {block.carried_in, block.carried_out})
            if (carried) shapes.push_back(fixed_shape(graph[*carried].type));
    std::vector<Form> forms{{}};
    for (size_t level = 0; level < cluster.placement.rank(); ++level) {
        std::vector<Form> longer;
        for (const Form& form : forms)
            for (int axis = -1; axis < (shapes.empty() ? 0 : static_cast<int>(shapes.front().size()));
                 ++axis) {
                Form next = form;
                next.push_back(axis < 0 ? distribution::broadcast() : distribution::split(axis));
                if (std::ranges::all_of(shapes, [&](const auto& shape) {
                        return distribution::exists(next, shape, cluster.placement, cut);
                    }))
                    longer.push_back(std::move(next));
            }
        forms = std::move(longer);
    }
    return forms;
}

ModelProblem model_problem(const Graph& graph, const Cluster& cluster, const ModelOptions& options,
                           const Form& carried) {
    return Builder(graph, cluster, options, carried).run();
}

}  // namespace tessera::spmd
