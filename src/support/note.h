#pragma once

#include <string_view>
#include <utility>

#include <fmt/core.h>

namespace tessera {

/// A line on the standard error. A line that cannot be written there is lost: nothing fails for want of a
/// remark.
void say(std::string_view line);

/// say of a format and its values.
template <typename... Arguments>
void note(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    say(fmt::format(format, std::forward<Arguments>(arguments)...));
}

}  // namespace tessera
