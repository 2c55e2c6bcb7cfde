#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace tessera {

struct JsonLimits {
    size_t bytes = size_t{1} << 20;
    int depth = 32;
};

/// Parses JSON of an untrusted file. @throws Error naming `where` for text that is too long, nested too
/// deeply, no JSON, or an object with one key twice.
nlohmann::json parse_json(std::string_view text, const std::string& where, const JsonLimits& limits = {});

/// Parses a file whose top is an object.
nlohmann::json read_json_object(const std::string& path, const JsonLimits& limits = {});

}  // namespace tessera
