#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ir/ops/define.h"
#include "search/rules/rule_entry.h"

namespace tessera::rules {

/// All rules of the algebra, and the decomposition of composites, for graphs with these symbols: one list, in
/// which the tests, the pass and the documentation find them.
/// @param without names of families that are left out
std::vector<RuleEntry> algebra_rules(ops::Symbols symbols, const std::set<std::string>& without = {});

/// The families of the algebra, each by the name of its file, in the order of their rules.
std::vector<std::string_view> rule_families();

}  // namespace tessera::rules
