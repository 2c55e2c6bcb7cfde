#pragma once

#include <string>
#include <vector>

#include "search/egraph/e_graph.h"

namespace tessera::egraph {

/// One application of a rule inside a term.
struct Step {
    std::string rule;
    bool is_forward = true;     ///< the rule matched `before`; else it made it
    std::vector<int> position;  ///< of the replaced part: which child, from the whole term downwards
    TermId before, after;       ///< of the part
};

struct Explanation {
    std::vector<Step> steps;
    bool is_whole =
        true;  ///< else the steps are the first ones: a shared part is explained wherever it stands
};

/// Which rules turn one term into another, step by step: replacing in `from` at each position `before` by
/// `after` ends in `to`. @pre the terms are equal
Explanation explain(const EGraph& graph, TermId from, TermId to, size_t most_steps = 10'000);

/// "add(%x, transpose(%y))"
std::string print(const EGraph& graph, TermId term);
/// A step a line: "fold-nop-transpose: transpose(%x) = %x"; `rule`^-1 where it was used from right to left.
std::string print(const EGraph& graph, const Explanation& explanation);

}  // namespace tessera::egraph
