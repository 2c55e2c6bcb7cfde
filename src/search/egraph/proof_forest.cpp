#include "search/egraph/proof_forest.h"

#include <algorithm>

#include "support/error.h"

namespace tessera::egraph {

Reason ProofForest::reason(std::string_view rule_name) {
    const auto [known, is_new] =
        rule_ids_.try_emplace(std::string(rule_name), static_cast<int>(rule_names_.size()));
    if (is_new) rule_names_.emplace_back(rule_name);
    return {known->second};
}

/// Turns the links between the term and its root around.
void ProofForest::make_root(TermId term) {
    Link above;  // of the term before, seen from its old parent
    TermId child;
    for (TermId at_term = term; at_term.index >= 0;) {
        const Link link = at(at_term);
        at(at_term) = {child, above.reason, !above.is_forward};
        above = link;
        child = at_term;
        at_term = link.parent;
    }
}

void ProofForest::connect(TermId from, TermId to, Reason reason) {
    make_root(from);
    at(from) = {to, reason, true};
}

std::vector<TermId> ProofForest::to_root(TermId term) const {
    std::vector<TermId> result = {term};
    while (at(result.back()).parent.index >= 0) result.push_back(at(result.back()).parent);
    return result;
}

std::vector<ProofForest::Edge> ProofForest::path(TermId from, TermId to) const {
    std::vector<TermId> up = to_root(from), down = to_root(to);
    TESSERA_CHECK(up.back() == down.back(), "terms {} and {} are not equal", from.index, to.index);
    while (up.size() > 1 && down.size() > 1 && up[up.size() - 2] == down[down.size() - 2]) {
        up.pop_back();
        down.pop_back();
    }
    std::vector<Edge> edges;
    for (size_t i = 0; i + 1 < up.size(); ++i) {
        const Link& link = at(up[i]);
        edges.push_back({up[i], up[i + 1], link.reason, link.is_forward});
    }
    for (size_t i = down.size() - 1; i-- > 0;) {
        const Link& link = at(down[i]);
        edges.push_back({down[i + 1], down[i], link.reason, !link.is_forward});
    }
    return edges;
}

}  // namespace tessera::egraph
