#pragma once

#include <vector>

#include "ir/ops/define.h"
#include "search/rules/rule_entry.h"

namespace tessera::rules {

/// All rules of the algebra, and the decomposition of composites, for graphs with these symbols: one list, in
/// which the tests, the pass and the documentation find them.
std::vector<RuleEntry> algebra_rules(ops::Symbols symbols);

}  // namespace tessera::rules
