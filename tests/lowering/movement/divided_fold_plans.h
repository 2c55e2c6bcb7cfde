#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/graph_interpreter.h"
#include "lowering/plan/plan.h"

/// Reductions that the workers divide, for every monoid and every micro-kernel that folds by tiles.
namespace tessera::testing {

struct DividedFold {
    Graph graph;
    plan::Plan plan;
};

/// Attention over a paged cache, of one or two heads: scores made in the tiles that the workers share.
std::vector<DividedFold> divided_attentions(int64_t lanes, int64_t heads,
                                            const std::vector<int64_t>& workers);
/// Calls of them: divided_attention_call with 3 rows at these starts.
inline constexpr int64_t kDividedStarts[] = {0, 1, 7, 15, 16, 17, 40, 79};

/// Folds by every monoid.
std::vector<DividedFold> divided_folds(int64_t lanes, const std::vector<int64_t>& workers);
GraphCall divided_fold_call();

}  // namespace tessera::testing
