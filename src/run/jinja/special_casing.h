#pragma once

#include <string_view>

namespace tessera::jinja {

/// The upper or title case of a character where it is several characters, as of the German sharp s. Empty for
/// others.
std::string_view special_case(int code_point, bool title);

}  // namespace tessera::jinja
