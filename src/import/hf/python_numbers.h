#pragma once

#include <string>
#include <string_view>

namespace tessera::import {

/// JSON has no infinity. Python writes Infinity, -Infinity and NaN all the same, and transformers 5 an
/// object,
/// {"__float__": "Infinity"}: the text with such objects in the place of the words.
std::string with_objects_of_numbers(std::string_view text);

/// The member of that object.
inline constexpr const char* kFloatMember = "__float__";

}  // namespace tessera::import
