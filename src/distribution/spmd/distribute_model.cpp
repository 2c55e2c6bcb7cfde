#include "distribution/spmd/distribute_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "support/error.h"

namespace tessera::spmd {
namespace {

using distribution::Form;
using distribution::Status;

/// True if a is the better answer.
bool is_better(const distribution::Distribution& a, const distribution::Distribution& b) {
    if (a.has_plan() != b.has_plan()) return a.has_plan();
    if (a.has_plan()) return a.plan.seconds < b.plan.seconds;
    return a.plan.units < b.plan.units;
}

// The least bound over all forms holds for every plan. A form without a plan counts with its own bound,
// unless it is proved to have none.
void combine(distribution::Distribution& best, double bound, bool is_proven, int64_t nodes) {
    best.nodes = nodes;
    if (best.has_plan()) {
        best.bound = std::min(bound, best.plan.seconds);
        best.status = best.gap() <= 1e-9 ? Status::kOptimal : Status::kFeasible;
    } else {
        best.status = is_proven ? Status::kInfeasible : Status::kOutOfBudget;
    }
}

}  // namespace

ModelSearch::ModelSearch(const Graph& graph, Cluster cluster, ModelOptions options)
    : graph_(graph), cluster_(std::move(cluster)), options_(std::move(options)) {
    const Form whole(cluster_.placement.rank(), distribution::broadcast());
    const ModelProblem model = model_problem(graph_, cluster_, options_, whole);
    for (size_t o = 0; o < model.problem.operators.size(); ++o) {
        choices_.push_back(distribution::derive_choices(model.problem, model.problem.operators[o]));
        if (options_.seconds) price(model, o);
    }
}

// The first device has the largest parts.
void ModelSearch::price(const ModelProblem& model, size_t op) {
    const auto [b, n] = model.nodes[op];
    const Block& block = graph_.blocks[static_cast<size_t>(b)];
    const Definition& definition = *block.nodes[static_cast<size_t>(n)].definition();
    std::vector<TensorType> types;
    std::vector<bool> are_constant;
    for (const int number : model.problem.operators[op].values) {
        const tessera::Value& value = graph_[model.places[static_cast<size_t>(number)].value];
        types.push_back(value.type);
        are_constant.push_back(value.kind == ValueKind::kConstant);
    }
    const std::vector<int64_t> first(cluster_.placement.rank(), 0);
    std::vector<distribution::Choice> priced;
    for (distribution::Choice& choice : choices_[op]) {
        const LocalOperator local = local_operator(definition, types, choice, cluster_.placement, first);
        choice.seconds = options_.seconds(local, are_constant) * static_cast<double>(block.repeat);
        if (std::isfinite(choice.seconds)) priced.push_back(std::move(choice));
    }
    choices_[op] = std::move(priced);
}

ModelDistribution ModelSearch::best(const distribution::DistributeOptions& search,
                                    const AllowedForms& allows) const {
    distribution::OperatorChoices choices = choices_;
    if (allows) {
        const ModelProblem model = model_problem(graph_, cluster_, options_,
                                                 Form(cluster_.placement.rank(), distribution::broadcast()));
        for (size_t o = 0; o < choices.size(); ++o) {
            const std::pair<int, int> at = model.nodes[o];
            const Node& node =
                graph_.blocks[static_cast<size_t>(at.first)].nodes[static_cast<size_t>(at.second)];
            std::erase_if(choices[o],
                          [&](const distribution::Choice& choice) { return !allows(node, choice.forms); });
        }
    }
    std::optional<ModelDistribution> best;
    double bound = std::numeric_limits<double>::infinity();
    bool is_proven = true;
    int64_t nodes = 0;
    for (const Form& carried : carried_forms(graph_, cluster_, options_.cut)) {
        ModelDistribution each{carried, model_problem(graph_, cluster_, options_, carried), {}};
        each.found = distribution::distribute_choices(each.model.problem, choices, search);
        nodes += each.found.nodes;
        is_proven = is_proven && each.found.status != Status::kOutOfBudget;
        if (each.found.status != Status::kInfeasible) bound = std::min(bound, each.found.bound);
        if (!best || is_better(each.found, best->found)) best = std::move(each);
    }
    combine(best->found, bound, is_proven, nodes);
    return std::move(*best);
}

AllowedForms megatron(const Graph& graph, const Cluster& cluster) {
    // For each product the axis of its weight, and how many parts that may not be cut it has.
    struct Hand {
        int axis;
        int64_t units;
    };
    std::map<std::string, Hand> hands;
    const auto ends_with = [](std::string_view name, std::string_view end) {
        return name == end ||
               (name.size() > end.size() && name.ends_with(end) && name[name.size() - end.size() - 1] == '_');
    };
    int64_t query_heads = 0, cache_heads = 0;
    for (const Block& block : graph.blocks)
        for (const StateUpdate& state : block.states)
            cache_heads = graph[state.after].type.shape.at(2).factor;
    for (const Block& block : graph.blocks)
        for (const Node& node : block.nodes)
            if (ends_with(node.name, "attention_scatter") || ends_with(node.name, "attention"))
                if (graph[node.results.front()].type.shape.size() == 3)
                    query_heads = graph[node.results.front()].type.shape[1].factor;
    for (const Block& block : graph.blocks)
        for (const Node& node : block.nodes) {
            const Definition* definition = node.definition();
            if (!definition || definition->monoid != Monoid::kSum) continue;
            const auto add = [&](std::string_view end, int axis, int64_t units) {
                if (ends_with(node.name, end)) hands.emplace(node.name, Hand{axis, units});
            };
            const int64_t columns = graph[node.results.front()].type.shape.back().factor;
            add("q", 0, query_heads);
            add("k", 0, cache_heads);
            add("v", 0, cache_heads);
            add("output", 1, query_heads);
            add("gate", 0, columns);
            add("up", 0, columns);
            add("down", 1, 0);
            add("logits", 0, columns);
        }
    return [hands = std::move(hands), levels = cluster.placement.levels, &graph](
               const Node& node, const std::vector<Form>& forms) {
        const auto hand = hands.find(node.name);
        if (hand == hands.end()) return true;
        const Definition& definition = *node.definition();
        size_t operand = 0;
        for (size_t t = 0; t < forms.size(); ++t) {
            const TensorDecl& tensor = definition.tensors[t];
            if (tensor.role != Role::kIn) continue;
            const tessera::Value& value = graph[node.operands[operand++]];
            if (value.kind != ValueKind::kConstant || value.type.shape.size() != 2) continue;
            int64_t left = hand->second.units;
            if (left == 0) left = value.type.shape[1].factor;
            for (size_t level = 0; level < forms[t].size(); ++level) {
                const bool divides = left % levels[level].count == 0;
                if (divides) left /= levels[level].count;
                if (forms[t][level] !=
                    (divides ? distribution::split(hand->second.axis) : distribution::broadcast()))
                    return false;
            }
        }
        return true;
    };
}

}  // namespace tessera::spmd
