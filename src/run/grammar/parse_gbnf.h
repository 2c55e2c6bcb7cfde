#pragma once

#include <string>
#include <string_view>

#include "run/grammar/limits.h"
#include "run/grammar/rule_set.h"

namespace tessera::grammar {

/// Reads a grammar in the language of llama.cpp (`grammars/README.md` there):
///
///     root   ::= answer ("\n" answer)*   # a comment
///     answer ::= [a-z]{1,8} | "no \"" [^"]* "\""
///
/// Literals and classes with the escapes \n \r \t \\ \" \[ \] \- \^ \xHH \uHHHH \UHHHHHHHH, `.` for any
/// character, groups, `* + ? {m} {m,} {m,n}`. A rule ends with its line, but goes on inside of parentheses
/// and around `|`. Texts are those of the rule `root`. Left out: tokens by id or name.
/// @throws Error with line and column, and beyond the limits
RuleSet parse_gbnf(std::string_view text, const std::string& where, const Limits& limits = {});

}  // namespace tessera::grammar
