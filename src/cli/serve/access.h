#pragma once

#include <string_view>

namespace tessera::serve {

/// True if the header Authorization is "Bearer KEY" with this key; letter case of the scheme does not matter
/// (RFC 9110, 11.1). Takes the same time wherever the keys differ.
bool has_key(std::string_view authorization, std::string_view key);

}  // namespace tessera::serve
