#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tessera::llm {

/// The bytes of a text in base 64 with the standard alphabet and padding (RFC 4648); empty for any other
/// text.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace tessera::llm
