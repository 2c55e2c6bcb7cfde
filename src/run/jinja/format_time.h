#pragma once

#include <cstddef>
#include <ctime>
#include <string>
#include <string_view>

namespace tessera::jinja {

/// The time as `datetime.strftime` of Python writes it on Linux, with all forms of the C library (`%d`,
/// `%-d`,
/// `%e`, `%^a`, ..) in the C locale. A time knows neither its zone nor parts of a second: as in Python, `%Z`,
/// `%z` and `%:z` are empty, and `%f` is 000000. A text that is longer than `longest_time` is empty.
std::string format_time(std::string_view form, const std::tm& time);

/// The most bytes of a text that has this form.
size_t longest_time(std::string_view form);

}  // namespace tessera::jinja
