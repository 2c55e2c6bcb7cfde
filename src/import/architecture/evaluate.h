#pragma once

#include <functional>
#include <optional>
#include <string>

#include "import/architecture/scalar.h"
#include "import/architecture/term.h"

namespace tessera::import {

/// The values of names, settings above all. Empty for a name that has none, as those of tensors.
using Scope = std::function<std::optional<Scalar>(const std::string&)>;

/// The value of a term whose names all have values. Integers stay integers under + - * div mod min max abs;
/// `/` and functions give numbers. @throws Error naming `where` for a name without a value, operands of
/// another kind, division by zero and integers beyond 64 bits.
Scalar evaluate(const TermPtr& term, const Scope& scope, const std::string& where);

/// The term with every part that has a value replaced by it, and a `select` whose condition has one by the
/// chosen branch.
TermPtr folded(const TermPtr& term, const Scope& scope, const std::string& where);

/// True if every name in the term has a value.
bool has_value(const TermPtr& term, const Scope& scope);

/// The functions of scalars and texts with the number of their arguments; 0 for others.
int scalar_arity(const std::string& function);

TermPtr as_term(const Scalar& value);

}  // namespace tessera::import
