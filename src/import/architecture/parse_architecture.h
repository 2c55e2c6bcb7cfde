#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "import/architecture/architecture.h"

namespace tessera::import {

/// The text of another architecture, by its name; empty if there is none.
using TextsByName = std::function<std::string_view(std::string_view)>;

/// Reads the text of an architecture, with those that it begins with. `where` names the source in errors:
/// "olmo2.arch:3".
///
/// `arch NAME like OTHER` begins with all that OTHER says. A statement about a name then takes the place of
/// those about the same name; of a `set` only what it says. `model` and `layer` begin anew, `layer changed`
/// does not.
/// @throws Error for anything that the notation does not allow, with the line.
Architecture parse_architecture(std::string_view text, const std::string& where, const TextsByName& others);

/// The whole text, with what it has of others. @post parse(print(a)) prints the same
std::string print(const Architecture& architecture);

/// Checks that every name is declared, once in each format, and every function known, with arguments that it
/// takes.
/// @throws Error with the line.
void check(const Architecture& architecture);

}  // namespace tessera::import
