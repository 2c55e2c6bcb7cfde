#pragma once

#include <optional>
#include <string>
#include <vector>

#include "search/layouts/choose_layouts.h"

/// The search by the tensors of the graph, for people.
namespace tessera::layouts {

/// One way to have a value: an operator in a form, a copy in another layout, a stored form.
struct ValueForm {
    egraph::TermId term;
    int node = -1;  ///< of the problem; -1: impossible
    bool is_chosen = false;
    FormCost cost;  ///< times the block's repetitions
};

struct ValueForms {
    egraph::ClassId value;             ///< as values_of_classes() has it
    std::vector<std::string> tensors;  ///< of the graph; several where operators compute the same
    std::optional<Instance> at;        ///< nothing for a constant, which all specialisations share
    std::string made_by;               ///< the node; empty for values given to the block
    egraph::TermId original;           ///< as the graph has it
    std::vector<ValueForm> forms;      ///< chosen ones first, then by seconds, impossible ones last
};

/// Constants, then by specialisation and block its given values and its operators, in the graph's order.
/// Values that no result needs are left out.
std::vector<ValueForms> forms_of_values(const Graph& graph, const plan::Plan& initial, const Search& search);

}  // namespace tessera::layouts
