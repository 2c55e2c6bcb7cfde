#include "compiler/local_seconds.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "compiler/layout_search.h"
#include "compiler/operator_cost.h"
#include "ir/graph_text.h"
#include "search/egraph/operator.h"
#include "support/error.h"

namespace tessera::compiler {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// The operator by itself, on weights that may be stored in any layout.
Graph graph_of(const spmd::LocalOperator& local, const std::vector<bool>& are_constant, const Graph& whole) {
    Graph graph;
    graph.name = "part";
    graph.symbols = whole.symbols;
    graph.points = whole.points;
    Node node{.name = "op", .op = local.definition, .operands = {}, .results = {}, .previous = {}};
    for (size_t t = 0; t < local.types.size(); ++t) {
        const Role role = local.definition->tensors[t].role;
        const bool is_result = role == Role::kOut || role == Role::kUpdate;
        const ValueId id{static_cast<int>(graph.values.size())};
        const std::string name = fmt::format("x{}", t);
        graph.values.push_back({.name = name,
                                .kind = is_result         ? ValueKind::kIntermediate
                                        : are_constant[t] ? ValueKind::kConstant
                                                          : ValueKind::kInput,
                                .type = local.types[t],
                                .sources = {}});
        if (are_constant[t]) graph.values.back().sources = {name};
        (is_result ? node.results : node.operands).push_back(id);
    }
    graph.outputs = node.results;
    graph.blocks.push_back({.name = "part", .nodes = {std::move(node)}});
    return graph;
}

class LocalPricing {
public:
    LocalPricing(const Graph& graph, const CompileOptions& options)
        : graph_(graph), options_(options), lone_(operator_cost(graph, options.machine, options.workers)) {
        for (const Point& point : graph.points) weights_ += point.weight;
        if (graph.points.empty()) weights_ = 1;
    }

    double operator()(const spmd::LocalOperator& local, const std::vector<bool>& are_constant) {
        const Graph part = graph_of(local, are_constant, graph_);
        const Node& node = part.blocks.front().nodes.front();
        const egraph::Operator op{.what = local.definition, .results = types_of(part, node.results)};
        std::string key = egraph::key(op);
        for (const Value& value : part.values)
            key += fmt::format(" {}{}", print(value.type), value.sources.empty() ? "" : " constant");
        const auto [at, is_new] = known_.try_emplace(key);
        if (!is_new) return at->second;
        const bool has_weights = op.results.size() == 1 && std::ranges::count(are_constant, true) > 0 &&
                                 local.definition->monoid == Monoid::kSum;
        at->second =
            (has_weights ? in_best_layouts(part) : lone_(op, types_of(part, node.operands))) / weights_;
        return at->second;
    }

private:
    static std::vector<TensorType> types_of(const Graph& graph, const std::vector<ValueId>& values) {
        std::vector<TensorType> types;
        for (const ValueId value : values) types.push_back(graph[value].type);
        return types;
    }

    double in_best_layouts(const Graph& graph) const {
        PlanningStart start = planning_start(graph, options_.machine, options_.workers, 1);
        // Weights come from where those of the whole model lie.
        start.options.constant_bytes = std::numeric_limits<int64_t>::max();
        const layouts::Search found = layouts::find_layouts(
            graph, start.initial, layout_search_options(graph, start.initial, start.options, 1));
        if (!found.why_none.empty()) return kNever;  // nothing computes it in any layout
        return found.result.cost;
    }

    const Graph& graph_;
    const CompileOptions& options_;
    rules::OperatorCost lone_;
    double weights_ = 0;
    std::map<std::string, double> known_;
};

}  // namespace

spmd::LocalSeconds local_seconds(const Graph& graph, const CompileOptions& options) {
    const auto pricing = std::make_shared<LocalPricing>(graph, options);
    return [pricing](const spmd::LocalOperator& local, const std::vector<bool>& are_constant) {
        return (*pricing)(local, are_constant);
    };
}

}  // namespace tessera::compiler
