#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "search/egraph/pattern.h"

namespace tessera::egraph {

/// Makes a term that equals the match; empty where there is none.
using Construct = std::function<std::optional<TermId>(EGraph&, const Match&)>;
/// The same for a rule that knows several.
using ConstructAll = std::function<std::vector<TermId>(EGraph&, const Match&)>;

/// The operator with the types of the class that it is to join, as far as definitions do not decide them:
/// rounding policy and accumulator.
Operator joining(Operator op, const ClassFacts& facts);

/// An equality that is applied from left to right.
class Rule {
public:
    struct Parts {
        std::string name;
        Pattern from;
        std::variant<Pattern, Construct, ConstructAll> to;
        std::function<bool(const EGraph&, const Match&)> condition = {};  ///< null: always
    };
    /// A hole or attribute of `to` that is not bound, and a family of `to` that cannot make its
    /// members, are bugs of the rule and end the program.
    Rule(Parts parts);  // NOLINT: a list of rules is a list of their parts

    const std::string& name() const { return parts_.name; }
    const Pattern& from() const { return parts_.from; }
    bool holds(const EGraph& graph, const Match& match) const {
        return !parts_.condition || parts_.condition(graph, match);
    }
    /// The terms that the match is made equal to; none where no operator fits the rule, or where a pattern's
    /// term would have another rounding policy or accumulator.
    std::vector<TermId> construct(EGraph& graph, const Match& match) const;
    /// The matched term itself, as the pattern says it.
    TermId matched(EGraph& graph, const Match& match) const;

private:
    Parts parts_;
};

}  // namespace tessera::egraph
