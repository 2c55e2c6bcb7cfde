#pragma once

#include <string_view>

#include "ir/definition.h"
#include "ir/lexer.h"

namespace tessera {

/// Reads a line of the test part (`bind`, `fill`, `tile`, `lanes` or `unit`; the keyword is consumed) into
/// `file.test`.
/// @throws Error for anything that the notation does not allow
void parse_test_line(std::string_view keyword, TokenStream& tokens, int line, DefinitionFile& file);

}  // namespace tessera
