#pragma once

#include <span>

#include "ir/facts/affine.h"

/// From the expressions of access maps to quasi-affine forms.
namespace tessera::facts {

enum class Simplify : bool { kNo, kYes };
enum class IndexElements : bool { kZero, kKeep };

/// The form of a component of a map, iterator i being `iterators[i]`, a form over `space`. With
/// IndexElements::kZero every read of an index operand counts as 0: the rest is the address computation of
/// the component itself. @throws Error if it is no quasi-affine expression.
Form to_form(const ExprPtr& component, std::span<const Form> iterators, const Space& space,
             Simplify simplify = Simplify::kYes, IndexElements elements = IndexElements::kKeep);

/// The numbers that decide a coordinate (zoo notation, depends and packs): the component itself, or, for an
/// indirect one, what it adds to the elements that it reads, and the coordinates at which it reads them.
struct AddressForms {
    bool indirect = false;
    std::vector<Form> forms;
};
AddressForms address_forms(const ExprPtr& component, std::span<const Form> iterators, const Space& space);

/// Iterator i as variable i over the whole box; one of extent 1 is the constant 0.
std::vector<Form> iterator_variables(const Space& space);

}  // namespace tessera::facts
