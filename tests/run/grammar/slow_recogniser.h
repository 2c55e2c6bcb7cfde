#pragma once

#include <string_view>

#include "run/grammar/rule_set.h"

namespace tessera::grammar {

/// True if a text is one of the grammar's: tries all ways to read it, character by character. It shares
/// nothing with the automaton. The text must be UTF-8.
bool recognises(const RuleSet& rules, std::string_view text);

}  // namespace tessera::grammar
