#include "import/hf/python_numbers.h"

#include <array>

#include <fmt/format.h>

namespace tessera::import {

std::string with_objects_of_numbers(std::string_view text) {
    constexpr std::array<std::string_view, 3> kWords = {"-Infinity", "Infinity", "NaN"};
    std::string result;
    bool is_quoted = false;
    for (size_t at = 0; at < text.size();) {
        const std::string_view rest = text.substr(at);
        std::string_view word;
        for (const std::string_view each : kWords)
            if (!is_quoted && word.empty() && rest.starts_with(each)) word = each;
        if (!word.empty()) {
            result += fmt::format("{{\"{}\": \"{}\"}}", kFloatMember, word);
            at += word.size();
            continue;
        }
        if (rest.front() == '"') is_quoted = !is_quoted;
        const size_t taken = is_quoted && rest.front() == '\\' && rest.size() > 1 ? 2 : 1;
        result += rest.substr(0, taken);
        at += taken;
    }
    return result;
}

}  // namespace tessera::import
