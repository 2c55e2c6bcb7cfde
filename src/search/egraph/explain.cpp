#include "search/egraph/explain.h"

#include <fmt/core.h>

#include "support/error.h"

namespace tessera::egraph {
namespace {

class Explainer {
public:
    Explainer(const EGraph& graph, size_t most_steps) : graph_(graph), most_steps_(most_steps) {}

    /// Ends because a congruence rests on unions that are older than itself.
    void explain(TermId from, TermId to) {
        if (from == to || !result_.is_whole) return;
        for (const ProofForest::Edge& edge : graph_.proofs().path(from, to)) {
            if (!edge.reason.is_congruence()) {
                if (result_.steps.size() == most_steps_) {
                    result_.is_whole = false;
                    return;
                }
                result_.steps.push_back({graph_.proofs().rule_name(edge.reason.rule), edge.is_forward,
                                         position_, edge.from, edge.to});
                continue;
            }
            const Term &a = graph_.term(edge.from), &b = graph_.term(edge.to);
            TESSERA_CHECK(a.op == b.op && a.children.size() == b.children.size());
            for (size_t i = 0; i < a.children.size(); ++i) {
                position_.push_back(static_cast<int>(i));
                explain(a.children[i], b.children[i]);
                position_.pop_back();
            }
        }
    }
    Explanation take() { return std::move(result_); }

private:
    const EGraph& graph_;
    size_t most_steps_;
    std::vector<int> position_;
    Explanation result_;
};

}  // namespace

Explanation explain(const EGraph& graph, TermId from, TermId to, size_t most_steps) {
    TESSERA_CHECK(graph.are_equal(from, to), "terms {} and {}", from.index, to.index);
    Explainer explainer(graph, most_steps);
    explainer.explain(from, to);
    return explainer.take();
}

std::string print(const EGraph& graph, TermId term) {
    std::string text = label(graph.op(term));
    const std::vector<TermId>& children = graph.term(term).children;
    for (size_t i = 0; i < children.size(); ++i) text += (i == 0 ? "(" : ", ") + print(graph, children[i]);
    return children.empty() ? text : text + ")";
}

std::string print(const EGraph& graph, const Explanation& explanation) {
    std::string text;
    for (const Step& step : explanation.steps)
        text += fmt::format("{}{}: {} = {}\n", step.rule, step.is_forward ? "" : "^-1",
                            print(graph, step.before), print(graph, step.after));
    if (!explanation.is_whole) text += "...\n";
    return text;
}

}  // namespace tessera::egraph
