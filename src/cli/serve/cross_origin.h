#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::serve {

/// True if pages of an origin ("https://example.org:8443") may use the server from a browser: those of this
/// machine by name, and those that the settings list; "*" lists all.
/// Source: Fetch standard, 3.2, "CORS protocol".
bool allows_origin(const std::vector<std::string>& allowed, std::string_view origin);

/// The headers that let a browser hand the answer to a page of this origin.
std::vector<std::pair<std::string, std::string>> cross_origin_headers(std::string_view origin);

/// @throws Error (kUsage) if it is neither an origin nor "*".
void check_origin(std::string_view origin);

}  // namespace tessera::serve
