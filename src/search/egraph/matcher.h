#pragma once

#include <map>
#include <optional>
#include <vector>

#include "search/egraph/pattern.h"

namespace tessera::egraph {

/// Finds patterns in a rebuilt e-graph, which must not change meanwhile. Where a pattern can begin is looked
/// up by operator: a family is asked once about each operator, however many nodes have it.
class Matcher {
public:
    explicit Matcher(const EGraph& graph) : graph_(graph) {}

    /// Takes changes of the e-graph into account.
    void refresh();
    /// In the order of classes and nodes; stops after `most` matches.
    std::vector<Match> find(const Pattern& pattern, size_t most);

private:
    struct Goal {
        const Pattern* pattern;
        TermId term;
    };
    const std::optional<Attributes>& recognised(const OperatorFamily& family, OperatorId op);
    std::vector<TermId> candidates(const Pattern& pattern);
    bool has_room() const { return found_.size() < most_; }
    void solve(std::vector<Goal> goals, Match match);
    void solve_node(const Pattern& pattern, TermId node, const std::vector<Goal>& rest, Match match);

    const EGraph& graph_;
    std::vector<std::vector<TermId>> nodes_by_operator_;
    std::map<const OperatorFamily*, std::vector<std::optional<Attributes>>> recognised_;
    std::vector<Match> found_;
    size_t most_ = 0;
};

}  // namespace tessera::egraph
