#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// The known names that a mistyped one may have meant, likeliest first: those that differ by few letters,
/// then those that contain it. At most five.
std::vector<std::string> near_names(std::string_view name, std::span<const std::string> known);

}  // namespace tessera
