#include "search/egraph/extraction.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace tessera::egraph {

ExtractionProblem extraction_problem(const EGraph& graph, std::span<const TermId> roots,
                                     const std::function<double(TermId)>& cost) {
    std::set<ClassId> reached;
    std::vector<ClassId> open;
    const auto reach = [&](TermId term) {
        if (const ClassId e_class = graph.find(term); reached.insert(e_class).second) open.push_back(e_class);
    };
    std::map<TermId, double> costs;
    for (const TermId root : roots) reach(root);
    while (!open.empty()) {
        const ClassId e_class = open.back();
        open.pop_back();
        for (const TermId node : graph.nodes(e_class)) {
            const double price = cost(node);
            if (std::isinf(price) && price > 0) continue;
            costs.emplace(node, price);
            for (const TermId child : graph.term(node).children) reach(child);
        }
    }
    ExtractionProblem result;
    std::map<ClassId, int> number;
    for (const ClassId e_class : reached) {
        number.emplace(e_class, static_cast<int>(result.classes.size()));
        result.classes.push_back(e_class);
    }
    result.problem.classes = static_cast<int>(result.classes.size());
    for (const ClassId e_class : result.classes)
        for (const TermId node : graph.nodes(e_class)) {
            const auto price = costs.find(node);
            if (price == costs.end()) continue;
            extraction::Node made{.e_class = number.at(e_class), .cost = price->second};
            for (const TermId child : graph.term(node).children)
                made.children.push_back(number.at(graph.find(child)));
            result.problem.nodes.push_back(std::move(made));
            result.nodes.push_back(node);
        }
    for (const TermId root : roots) result.problem.roots.push_back(number.at(graph.find(root)));
    return result;
}

Selection selection_of(const ExtractionProblem& problem, const extraction::Choice& choice) {
    Selection selection;
    for (size_t i = 0; i < choice.size(); ++i)
        if (choice[i] >= 0)
            selection.emplace(problem.classes[i], problem.nodes[static_cast<size_t>(choice[i])]);
    return selection;
}

}  // namespace tessera::egraph
