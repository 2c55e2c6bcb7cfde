#include "run/jinja/format_time.h"

namespace tessera::jinja {
namespace {

/// Without what Python writes itself. A zero byte ends a form of the C library.
std::string for_the_library(std::string_view form) {
    std::string result;
    for (size_t i = 0; i < form.size() && form[i] != '\0'; ++i) {
        result += form[i];
        if (form[i] != '%' || i + 1 == form.size()) continue;
        const std::string_view rest = form.substr(i + 1);
        if (rest.front() == 'z' || rest.front() == 'Z') {
            result.pop_back();
            i += 1;
        } else if (rest.starts_with(":z")) {
            result.pop_back();
            i += 2;
        } else if (rest.front() == 'f') {
            result.pop_back();
            result += "000000";
            i += 1;
        } else {
            result += rest.front();
            i += 1;
        }
    }
    return result;
}

}  // namespace

size_t longest_time(std::string_view form) {
    // The smallest buffer of Python, doubled as often as it does.
    size_t longest = 1024;
    while (longest < 256 * form.size()) longest *= 2;
    return longest;
}

std::string format_time(std::string_view form, const std::tm& time) {
    const std::string directives = for_the_library(form);
    // With a byte that is always there nothing is told apart from what did not fit.
    std::string text(longest_time(form) + 2, '\0');
    text.resize(std::strftime(text.data(), text.size(), ("." + directives).c_str(), &time));
    return text.empty() ? text : text.substr(1);
}

}  // namespace tessera::jinja
