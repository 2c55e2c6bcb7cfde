#pragma once

#include <string>
#include <string_view>

#include "run/jinja/ast.h"

namespace tessera::jinja {

struct ParsedTemplate {
    Body body;
    std::string literal_text;  ///< Template::literal_text
};

/// @throws Error with row and column for a template that is not well-formed, for a statement that there is
/// not, and for a filter or test that there is not outside of branches
ParsedTemplate parse(std::string_view source, const std::string& where);

}  // namespace tessera::jinja
