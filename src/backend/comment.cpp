#include "backend/comment.h"

#include <fmt/format.h>

namespace tessera::backend {

std::string comment(std::string_view text) {
    std::string line = "// ";
    for (const char c : text) {
        const bool is_harmless = ' ' <= c && c <= '~' && c != '\\';
        line += is_harmless ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return line + "\n";
}

}  // namespace tessera::backend
