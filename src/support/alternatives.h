#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// The names for a message that lists what may be: "a, b or c".
std::string alternatives(const std::vector<std::string_view>& names);

}  // namespace tessera
