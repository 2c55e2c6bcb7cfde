#pragma once

#include <string_view>

namespace tessera::serve {

/// Whether the header Authorization is "Bearer KEY" with this key, whatever the letters of the scheme
/// (RFC 9110, 11.1). Takes the same time wherever the keys differ.
bool has_key(std::string_view authorization, std::string_view key);

}  // namespace tessera::serve
