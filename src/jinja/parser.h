#pragma once

#include <string>
#include <string_view>

#include "jinja/ast.h"

namespace tessera::jinja {

/// @throws Error with row and column for a template that is not well-formed, and for a statement, filter or
/// test that there is not
Body parse(std::string_view source, const std::string& where);

}  // namespace tessera::jinja
