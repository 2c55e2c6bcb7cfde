#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "support/json_bounds.h"

namespace tessera {

/// Parses JSON of an untrusted file. @throws Error naming `where` for text beyond the bounds, no JSON, or
/// an object with one key twice.
nlohmann::json parse_json(std::string_view text, const std::string& where, const JsonBounds& bounds = {});

/// Parses a file whose top is an object.
nlohmann::json read_json_object(const std::string& path, const JsonBounds& bounds = {});

}  // namespace tessera
