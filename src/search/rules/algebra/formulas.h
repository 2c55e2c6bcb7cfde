#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "search/egraph/family.h"

/// Scalar expressions taken out of the definition in which they stood: reads name operands by position and
/// have no coordinates.
namespace tessera::rules {

using egraph::Formula;

/// "exp(X)", "X * Z": of `operands` operands, which are called X, Z and W and must all occur.
Formula formula(std::string_view text, int operands);
/// The operand's element itself.
Formula bare_read();
bool is_bare_read(const Formula& formula);

/// A body or post-expression out of its definition. Empty if it reads an operand elsewhere than the declared
/// map says, or names an iterator or a dim. Null stays null.
std::optional<Formula> formula_of(const ExprPtr& expr, const Definition& definition);

/// The call, if the expression is one of this function; else null.
const Apply* call_of(const ExprPtr& expr, Function function);

/// The expression with other ones where `replace` gives one (children of a replaced one are not visited, nor
/// the coordinates of a read).
ExprPtr with_leaves(const ExprPtr& expr, const std::function<ExprPtr(const Expr&)>& replace);
/// The expression with other expressions for its reads (children of a replaced one are not visited).
ExprPtr with_reads(const ExprPtr& expr, const std::function<ExprPtr(const Read&)>& replace);
/// The expression with another one in place of the monoid's result.
ExprPtr with_folded(const ExprPtr& post, const ExprPtr& folded);

}  // namespace tessera::rules
