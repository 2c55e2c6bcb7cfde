#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "search/egraph/term.h"

namespace tessera::egraph {

/// Why two terms are equal: by a rule, or because their children are (congruence).
struct Reason {
    int rule = -1;  ///< in ProofForest::rule_name; -1 for congruence
    bool is_congruence() const { return rule < 0; }
};

/// For every union the two terms that it was stated of, as an edge of a forest whose trees are the classes:
/// the path between two equal terms is their proof. An edge stays when classes merge further, so a congruence
/// rests on older edges only.
/// Source: Nieuwenhuis, Oliveras: Proof-Producing Congruence Closure, RTA 2005.
class ProofForest {
public:
    struct Edge {
        TermId from, to;
        Reason reason;
        bool is_forward;  ///< the reason says from = to, in this order
    };

    void add_term() { links_.emplace_back(); }
    /// @pre the two are in different trees
    void connect(TermId from, TermId to, Reason reason);
    /// @pre the two are in one tree
    std::vector<Edge> path(TermId from, TermId to) const;

    Reason reason(std::string_view rule_name);
    const std::string& rule_name(int rule) const { return rule_names_[static_cast<size_t>(rule)]; }

private:
    struct Link {
        TermId parent;
        Reason reason;
        bool is_forward = true;  ///< stated as child = parent
    };
    Link& at(TermId id) { return links_[static_cast<size_t>(id.index)]; }
    const Link& at(TermId id) const { return links_[static_cast<size_t>(id.index)]; }
    void make_root(TermId term);
    std::vector<TermId> to_root(TermId term) const;

    std::vector<Link> links_;
    std::vector<std::string> rule_names_;
    std::unordered_map<std::string, int> rule_ids_;
};

}  // namespace tessera::egraph
