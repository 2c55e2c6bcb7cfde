#pragma once

#include <optional>
#include <vector>

#include "ir/quasi_affine.h"
#include "search/egraph/operator.h"

/// Operators that only rename elements, seen by the normal forms of their maps.
namespace tessera::rules {

/// Y[0, 1, ..] = X[map]: a map of one operand whose body is the bare read.
struct Renaming {
    std::vector<ExprPtr> map;
    std::vector<Dim> from;  ///< shape of the operand
    std::vector<Dim> to;    ///< shape of the result; its axis i is iterator i
};

/// Empty for another operator, another type of the result, and where a map holds a symbol or an index
/// operand.
std::optional<Renaming> recognise_renaming(const egraph::Operator& op);

/// A component in normal form, where the dims have the largest values that they can have: then no iteration
/// is left out.
QuasiAffine normal_form(const Definition& definition, const ExprPtr& component);

}  // namespace tessera::rules
