#include "ir/graph_interpreter.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "support/error.h"

namespace tessera {
namespace {

/// Values by id, those of the current repetition.
class Run {
public:
    Run(const Graph& graph, const GraphCall& call)
        : graph_(graph), call_(call), values_(graph.values.size()), states_(call.states) {
        for (size_t i = 0; i < graph.values.size(); ++i)
            if (graph.values[i].kind == ValueKind::kInput) values_[i] = input(graph.values[i]);
    }

    GraphResult run() {
        for (const Block& block : graph_.blocks) run(block);
        GraphResult result;
        for (const ValueId id : graph_.outputs) result.outputs.push_back(at(id));
        result.states = std::move(states_);
        return result;
    }

private:
    TensorData& at(ValueId id) { return values_[static_cast<size_t>(id.index)]; }

    void check_shape(const Value& value, const TensorData& data) const {
        const std::vector<int64_t> expected = evaluate(value.type.shape, call_.symbols);
        if (data.shape != expected)
            throw Error(graph_.name, value.name,
                        fmt::format("has shape [{}], expected [{}]", fmt::join(data.shape, ", "),
                                    fmt::join(expected, ", ")));
    }

    TensorData input(const Value& value) const {
        const auto found = call_.inputs.find(value.name);
        if (found == call_.inputs.end()) throw Error(graph_.name, value.name, "is an input without contents");
        check_shape(value, found->second);
        return found->second;
    }

    TensorData& state(ValueId before, int64_t repetition) {
        const Value& value = graph_[before];
        const auto found = states_.find(value.name);
        if (found == states_.end() || repetition >= std::ssize(found->second))
            throw Error(graph_.name, value.name,
                        fmt::format("is a state without contents of repetition {}", repetition));
        TensorData& data = found->second[static_cast<size_t>(repetition)];
        check_shape(value, data);
        return data;
    }

    void run(const Block& block) {
        const TensorData first = block.carried_in ? at(*block.carried_in) : TensorData{};
        for (int64_t repetition = 0; repetition < block.repeat; ++repetition) {
            if (repetition > 0 && block.carried_in) at(*block.carried_in) = at(block.carried_out.value());
            for (const StateUpdate& update : block.states)
                at(update.before) = state(update.before, repetition);
            for (const Node& node : block.nodes) run(node, repetition);
            for (const StateUpdate& update : block.states)
                state(update.before, repetition) = at(update.after);
        }
        if (block.carried_in)
            at(*block.carried_in) = first;  // later blocks may read what the first repetition read
    }

    void run(const Node& node, int64_t repetition) {
        const Definition* definition = node.definition();
        if (!definition && call_.composite) return run_composite(node, repetition);
        if (!definition)
            throw Error(graph_.name, node.name, "is a composite, which has no definition",
                        "decompose the graph first");
        const std::vector<int64_t> dims = dims_of(*definition, call_.symbols);
        const std::string where = fmt::format("{}: {}", graph_.name, node.name);
        const BoundExtents extents = bound_extents(*definition, dims, where);
        std::vector<TensorData> operands(definition->tensors.size());
        size_t next = 0;
        for (size_t i = 0; i < operands.size(); ++i) {
            const Role role = definition->tensors[i].role;
            if (role == Role::kUpdate) operands[i] = at(node.previous.value());
            if (role == Role::kIndex || role == Role::kIn)
                operands[i] = operand(node.operands[next++], repetition);
        }
        std::vector<TensorData> results =
            interpret(*definition, extents, operands, where, /*round_results=*/true,
                      /*held=*/nullptr, InfiniteScores::kNothing);
        for (size_t i = 0; i < results.size(); ++i) at(node.results[i]) = std::move(results[i]);
    }

    void run_composite(const Node& node, int64_t repetition) {
        std::vector<TensorData> operands;
        for (const ValueId id : node.operands) operands.push_back(operand(id, repetition));
        std::vector<TensorData> results = call_.composite(node, operands);
        for (size_t i = 0; i < results.size(); ++i) {
            check_shape(graph_[node.results.at(i)], results[i]);
            at(node.results[i]) = std::move(results[i]);
        }
    }

    const TensorData& operand(ValueId id, int64_t repetition) {
        const Value& value = graph_[id];
        if (value.kind != ValueKind::kConstant) return at(id);
        const int64_t own = value.repetitions() == 1 ? 0 : repetition;
        int64_t& held = held_.try_emplace(id, -1).first->second;
        if (held != own) {
            at(id) = call_.constant(value, own);
            check_shape(value, at(id));
            held = own;
        }
        return at(id);
    }

    const Graph& graph_;
    const GraphCall& call_;
    std::vector<TensorData> values_;
    std::map<ValueId, int64_t> held_;  ///< the repetition whose contents a constant has now
    GraphStates states_;
};

}  // namespace

GraphStates zero_states(const Graph& graph, const std::map<std::string, int64_t>& symbols) {
    GraphStates states;
    for (const Block& block : graph.blocks) {
        for (const StateUpdate& update : block.states) {
            TensorData zeros{.shape = evaluate(graph[update.before].type.shape, symbols), .values = {}};
            size_t count = 1;
            for (const int64_t extent : zeros.shape) count *= static_cast<size_t>(extent);
            zeros.values.assign(count, 0.0);
            states[graph[update.before].name].assign(static_cast<size_t>(block.repeat), zeros);
        }
    }
    return states;
}

GraphResult interpret_graph(const Graph& graph, const GraphCall& call) {
    return Run(graph, call).run();
}

}  // namespace tessera
