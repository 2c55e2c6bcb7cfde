#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "llm/regex.h"
#include "support/json.h"

namespace tessera::llm {

/// What the sections of a `tokenizer.json` have in common.

// A Sequence may hold Sequences; nobody nests them deeper.
inline constexpr int kDeepestSequence = 8;

/// Calls `read(component, type)` for every component, in order, looking into Sequences, whose list has the
/// name `list`.
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

/// How a Metaspace component spells a space.
std::string read_replacement(const JsonCursor& component);

/// Where a Metaspace component puts a space in front: "always", "first" or "never". Newer files have
/// `prepend_scheme`, older ones `add_prefix_space`.
std::string read_prepend_scheme(const JsonCursor& component);

}  // namespace tessera::llm
