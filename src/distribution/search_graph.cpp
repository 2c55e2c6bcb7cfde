#include "distribution/search_graph.h"

#include <algorithm>
#include <functional>

#include "support/error.h"

namespace tessera::distribution {
namespace {

FormId intern(Cluster& cluster, const Form& form) {
    const auto [at, is_new] = cluster.ids.try_emplace(form, static_cast<FormId>(cluster.forms.size()));
    if (is_new) cluster.forms.push_back(form);
    return at->second;
}

// Entries that a value may have: B, every axis, and the grains that operators ask for.
std::vector<Sbp> entries_of(const Cluster& cluster, const Value& value) {
    std::vector<Sbp> entries = {broadcast()};
    for (int axis = 0; axis < static_cast<int>(value.shape.size()); ++axis) entries.push_back(split(axis));
    for (const Form& form : cluster.forms)
        for (const Sbp& entry : form)
            if (entry.grain > 1 && std::ranges::find(entries, entry) == entries.end())
                entries.push_back(entry);
    return entries;
}

// Every form of these entries that exists.
void add_storable(Cluster& cluster, const Problem& problem, const Value& value,
                  const std::vector<Sbp>& entries) {
    Form form;
    const std::function<void()> extend = [&] {
        if (form.size() == problem.placement.rank()) {
            const FormId id = intern(cluster, form);
            if (std::ranges::find(cluster.storable, id) == cluster.storable.end())
                cluster.storable.push_back(id);
            return;
        }
        for (const Sbp& entry : entries) {
            form.push_back(entry);
            if (exists(form, value.shape, problem.placement, problem.cut)) extend();
            form.pop_back();
        }
    };
    extend();
}

// Adds every form that boxes lead to, and the boxes.
void close(Cluster& cluster, const Problem& problem, const Value& value) {
    const std::vector<Sbp> entries = entries_of(cluster, value);
    for (size_t f = 0; f < cluster.forms.size(); ++f) {
        const Form from = cluster.forms[f];
        for (int level = 0; level < static_cast<int>(from.size()); ++level)
            for (const Sbp& entry : entries)
                if (const std::optional<Box> made = box(problem, value, from, level, entry))
                    cluster.boxes.push_back({static_cast<FormId>(f), intern(cluster, made->to), made->seconds,
                                             problem.box_units(value, made->to)});
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
        if (value.is_constant) add_storable(cluster, problem, value, entries_of(cluster, value));
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
    for (size_t v = 0; v < graph.values.size(); ++v)
        if (problem.values[v].is_constant)
            add_storable(graph.values[v], problem, problem.values[v],
                         entries_of(graph.values[v], problem.values[v]));
    for (size_t v = 0; v < graph.values.size(); ++v) close(graph.values[v], problem, problem.values[v]);
    return graph;
}

}  // namespace tessera::distribution
