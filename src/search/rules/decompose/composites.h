#pragma once

#include <vector>

#include "ir/ops/define.h"
#include "search/rules/rule_entry.h"

namespace tessera::rules {

/// A composite equals its decomposition (ir/ops/composite.h): one rule for each kind, after which the e-graph
/// holds both forms and the cost decides.
std::vector<RuleEntry> decomposition_rules(ops::Symbols symbols);

}  // namespace tessera::rules
