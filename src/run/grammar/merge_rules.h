#pragma once

#include "run/grammar/rule_set.h"

namespace tessera::grammar {

/// Adds the rules of another grammar behind those of `into`, in their order. @return its root, a rule of
/// `into` now
RuleId merge_rules(RuleSet& into, RuleSet other);

}  // namespace tessera::grammar
