#pragma once

#include <string>
#include <string_view>

namespace tessera::backend {

/// A comment of one line. Names of models and nests come from outside: no part of them may end the line, or
/// continue it on the next one as a backslash does.
std::string comment(std::string_view text);

}  // namespace tessera::backend
