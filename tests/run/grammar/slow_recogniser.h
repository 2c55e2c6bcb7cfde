#pragma once

#include <string_view>

#include "run/grammar/rule_set.h"

namespace tessera::grammar {

/// Whether a text is one of the grammar's: all ways to read it are tried, character by character. It shares
/// nothing with the automaton. The text must be UTF-8.
bool recognises(const RuleSet& rules, std::string_view text);

}  // namespace tessera::grammar
