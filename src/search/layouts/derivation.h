#pragma once

#include <map>
#include <string>
#include <vector>

#include "search/layouts/value_forms.h"

namespace tessera::layouts {

/// One rule that took part in making a form, with the terms that it replaced.
struct DerivationStep {
    std::string rule;
    bool is_forward = true;  ///< the rule matched `before`; else it made it of `after`
    std::string before, after;
};

/// Derivations of the forms of the search's values, from the e-graph.
class Derivations {
public:
    Derivations(const Search& search, const std::vector<ValueForms>& values);

    /// The rules that lead from the value as the graph has it, copied into the layout of the form, to the
    /// form, step by step. Empty for the original and for such a copy itself, which a rule made as part of a
    /// form that reads it.
    std::vector<DerivationStep> of(const ValueForms& value, egraph::TermId form) const;

    /// "copy(matmul(normed: row-major, weight: lanes <0:16>)) -> row-major": down to other values of the
    /// graph.
    std::string text(egraph::TermId term) const;

private:
    egraph::TermId begin_of(const ValueForms& value, egraph::TermId form) const;

    const Search& search_;
    std::map<egraph::ClassId, egraph::ClassId> values_;
    std::map<egraph::ClassId, std::string> names_;
};

}  // namespace tessera::layouts
