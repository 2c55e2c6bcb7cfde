#include "lowering/movement/identifier.h"

#include <algorithm>

namespace tessera::movement {

std::string value_identifier(const std::string& name) {
    return "v_" + name;
}

std::string symbol_identifier(const std::string& name) {
    return "s_" + name;
}

std::string iterator_identifier(const std::string& name) {
    return "i_" + name;
}

bool is_part_of_identifier(const std::string& name) {
    const auto is_letter = [](char c) { return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z'); };
    return !name.empty() && is_letter(name.front()) && std::ranges::all_of(name, [&](char c) {
        return is_letter(c) || ('0' <= c && c <= '9') || c == '_';
    });
}

}  // namespace tessera::movement
