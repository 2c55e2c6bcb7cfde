#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cost/evaluate.h"
#include "lowering/refusal.h"
#include "lowering/tiled_kernel.h"
#include "search/schedule/cheapest_leaf.h"
#include "search/schedule/leaf_memo.h"
#include "search/schedule/nest_space.h"
#include "search/schedule/same_kernels.h"

namespace tessera::schedule {

/// Limits of the kernels that merges make: what a structure costs to evaluate grows with both.
struct KernelLimits {
    size_t operators = 16;  ///< of a kernel
    int braces = 6;         ///< around an operator
};

/// The operators of a block in one specialisation, as the search sees them.
struct BlockContext {
    const lowering::BlockLinks& links;
    cost::Evaluator& evaluator;
    /// Leaves of an operator that may be tried, by their numbers, preferred ones first; at least one.
    std::vector<std::vector<int>> leaves;
    /// Operators that read a result of each; an operator once.
    std::vector<std::vector<int>> readers;
    /// Something outside the block sees a result of it, or its place is decided: it is never in tiles only.
    std::vector<bool> is_whole;
    std::vector<bool> is_alone;  ///< operators whose kernels are not merged with others
    /// Operators whose kernels end with them: something happens before the readers.
    std::vector<bool> is_last;
    /// By operator and iterator: its extent does not depend on symbols.
    std::vector<std::vector<bool>> is_constant;
    /// Operators that run later than each although they read no result of it: they overwrite what it reads,
    /// or are the next exchange between ranks. May be empty.
    std::vector<std::vector<int>> followers = {};
    /// Pairs of operators that share no kernel: the second one overwrites what the first one reads.
    std::set<std::pair<int, int>> apart = {};
    /// Kernels that are kept, whose operators are alone; tiles may be open.
    std::vector<lowering::NumberedNest> stated = {};
    KernelLimits limits = {};
    NestSpace space = {};
    /// Kinds of the operators; none: no kernel is taken for another one.
    std::vector<OperatorKind> kinds = {};
    KnownKernels* known = nullptr;  ///< with kinds: kernels that were solved for this block or others
    /// A leaf of each operator that lowers wherever any does.
    std::vector<int> plain_leaves = {};
    /// The reason why the nest does not lower with these leaves, some of its results being tiles:
    /// micro-kernels do not find their strides, beyond `lowering::why_illegal`. If unset, all lower.
    std::function<std::optional<lowering::Refusal>(
        const lowering::NumberedNest& nest, const std::vector<int>& leaves, const std::vector<bool>& is_tile)>
        why_not_lowered = {};
    LeafMemo memo = LeafMemo(evaluator);  ///< the answers of `why_not_lowered`
    CheapestLeaves cheapest = {};
    /// Kernels that do not lower although each of their leaves does in such a part.
    std::set<std::string> illegal = {};
};

}  // namespace tessera::schedule
