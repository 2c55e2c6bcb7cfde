#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "run/llm/regex.h"
#include "support/json.h"

namespace tessera::llm {

/// The common parts of the sections of a `tokenizer.json`.

// A Sequence may hold Sequences; no real file nests them deeper.
inline constexpr int kDeepestSequence = 8;

/// Calls `read(component, type)` for every component, in order, and for those of Sequences, whose list is
/// named `list`.
template <typename Read>
void for_each_component(const JsonCursor& component, std::string_view list, Read read, int depth = 0) {
    const std::string type = component.at("type").string();
    if (type != "Sequence") return read(component, type);
    if (depth == kDeepestSequence) component.fail("nests sequences too deep");
    for (const JsonCursor& item : component.at(list).items()) for_each_component(item, list, read, depth + 1);
}

/// The `pattern` of a component: {"String": "text"}, {"Regex": "expression"} or a plain text, which is not
/// empty.
std::variant<std::string, Regex> read_pattern(const JsonCursor& component);

/// The character that a Metaspace component writes for a space.
std::string read_replacement(const JsonCursor& component);

/// The texts that a Metaspace component begins with a space: "always", "first" or "never". Newer files have
/// `prepend_scheme`, older ones `add_prefix_space`.
std::string read_prepend_scheme(const JsonCursor& component);

}  // namespace tessera::llm
