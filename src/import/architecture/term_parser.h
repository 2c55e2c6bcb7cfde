#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "import/architecture/term.h"
#include "ir/lexer.h"

namespace tessera::import {

/// The tokens of a statement: those of the operators' notation, and texts in quotation marks (kText). They
/// point into `statement`.
TokenStream tokens_of(std::string_view statement, const std::string& where);

/// A text in quotation marks. @throws Error saying what was expected
std::string expect_text(TokenStream& tokens, std::string_view what);

/// Reads an expression by recursive descent, with the precedence of the operators' notation and `in` beside
/// the comparisons. @throws Error for anything else, and for an expression that is nested too deeply.
TermPtr parse_term(TokenStream& tokens);

}  // namespace tessera::import
