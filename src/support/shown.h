#pragma once

#include <string>
#include <string_view>

namespace tessera {

/// Text of a file for one line of a message: `printable`, at most 60 bytes of it.
std::string shown(std::string_view text);

}  // namespace tessera
