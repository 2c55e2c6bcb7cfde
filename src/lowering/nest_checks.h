#pragma once

#include <vector>

#include "lowering/storage.h"
#include "plan/plan.h"

/// What a nest may not do that only its structure shows.
namespace tessera::lowering {

/// Inside a loop over the reduction every trip folds into the present results, so a result that iterator x
/// does not index would fold the same tile in every trip over x. @throws Error for such a result
void check_folds_once(const Node& node, int x);

/// Behind an inner nest only the results of its root are known whole. @throws Error if another operator of
/// the kernel reads one of the others
void check_hidden(const plan::Nest& inner, const std::vector<const Node*>& kernel, const Storage& storage);

}  // namespace tessera::lowering
