#include "distribution/search_graph.h"

#include <functional>

#include "support/error.h"

namespace tessera::distribution {
namespace {

FormId intern(Cluster& cluster, const Form& form) {
    const auto [at, is_new] = cluster.ids.try_emplace(form, static_cast<FormId>(cluster.forms.size()));
    if (is_new) cluster.forms.push_back(form);
    return at->second;
}

// Every form of S and B that exists.
void add_storable(Cluster& cluster, const Problem& problem, const Value& value) {
    Form form;
    const std::function<void()> extend = [&] {
        if (form.size() == problem.placement.rank()) {
            cluster.storable.push_back(intern(cluster, form));
            return;
        }
        for (int axis = -1; axis < static_cast<int>(value.shape.size()); ++axis) {
            form.push_back(axis < 0 ? broadcast() : split(axis));
            if (exists(form, value.shape, problem.placement, problem.cut)) extend();
            form.pop_back();
        }
    };
    extend();
}

// Adds every form that boxes lead to, and the boxes.
void close(Cluster& cluster, const Problem& problem, const Value& value) {
    for (size_t f = 0; f < cluster.forms.size(); ++f) {
        const Form from = cluster.forms[f];
        for (int level = 0; level < static_cast<int>(from.size()); ++level)
            for (int axis = -1; axis < static_cast<int>(value.shape.size()); ++axis) {
                const Sbp entry = axis < 0 ? broadcast() : split(axis);
                if (const std::optional<Box> made = box(problem, value, from, level, entry))
                    cluster.boxes.push_back(
                        {static_cast<FormId>(f), intern(cluster, made->to), made->seconds});
            }
        cluster.units.push_back(problem.units(value, from));
        cluster.ended.push_back(intern(cluster, without_weights(from)));
    }
}

}  // namespace

SearchGraph build_search_graph(const Problem& problem, const std::vector<std::vector<Choice>>& choices) {
    SearchGraph graph;
    for (const Value& value : problem.values) {
        Cluster& cluster = graph.values.emplace_back();
        graph.makers.push_back(value.maker);
        graph.readers.push_back(value.readers);
        if (value.is_constant) add_storable(cluster, problem, value);
        if (value.given) cluster.given = intern(cluster, *value.given);
        if (value.wanted) cluster.wanted = intern(cluster, *value.wanted);
    }
    for (size_t o = 0; o < problem.operators.size(); ++o) {
        const Operator& op = problem.operators[o];
        SearchOperator& node = graph.operators.emplace_back();
        node.values = op.values;
        for (size_t t = 0; t < op.values.size(); ++t)
            node.is_result.push_back(op.bound.is_result(static_cast<int>(t)));
        for (const Choice& choice : choices[o]) {
            SearchChoice& each = node.choices.emplace_back();
            each.seconds = choice.seconds;
            for (size_t t = 0; t < op.values.size(); ++t)
                each.forms.push_back(
                    intern(graph.values[static_cast<size_t>(op.values[t])], choice.forms[t]));
        }
    }
    for (size_t v = 0; v < graph.values.size(); ++v) close(graph.values[v], problem, problem.values[v]);
    return graph;
}

}  // namespace tessera::distribution
