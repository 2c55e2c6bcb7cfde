#include "run/llm/component_chain.h"

#include "support/error.h"

namespace tessera::llm {

std::variant<std::string, Regex> read_pattern(const JsonCursor& component) {
    const JsonCursor pattern = component.at("pattern");
    if (pattern.is_object())
        if (const auto expression = pattern.find("Regex"))
            return Regex::compile(expression->string(), expression->file());
    std::string text = pattern.is_object() ? pattern.at("String").string() : pattern.string();
    if (text.empty()) pattern.fail("is an empty text");
    return text;
}

std::string read_replacement(const JsonCursor& component) {
    std::string text = component.string_or("replacement", "\u2581");
    if (text.empty()) component.fail("has an empty replacement");
    return text;
}

std::string read_prepend_scheme(const JsonCursor& component) {
    std::string scheme = component.string_or(
        "prepend_scheme", component.boolean_or("add_prefix_space", true) ? "always" : "never");
    if (scheme != "always" && scheme != "first" && scheme != "never")
        component.fail(fmt::format("has the prepend_scheme \"{}\", expected always, first or never", scheme));
    return scheme;
}

}  // namespace tessera::llm
