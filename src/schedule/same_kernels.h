#pragma once

#include <string>
#include <vector>

#include "lowering/tiled_kernel.h"

namespace tessera::schedule {

struct BlockContext;
struct SolvedKernel;
struct KnownKernels;

/// What the search knows of an operator beside its neighbours.
struct OperatorKind {
    /// Equal for operators that lower alike and take as long: equal definitions but for names and for
    /// constants of their arithmetic, on values of equal types that lie alike.
    int number = 0;
    std::vector<int> storages = {};  ///< of Definition::tensors: equal numbers lie at one place
};

/// By operator; blocks with the same `known` have the same numbers. @pre the block has the leaves of its
/// operators
std::vector<OperatorKind> operator_kinds(const lowering::LoweringInput& input, const BlockContext& block,
                                         KnownKernels& known);

/// A text that kernels share which lower alike and take as long: their operators are of the same kinds, and
/// read each other's results in the same way. Layers that the graph repeats have such kernels, and chains of
/// equal maps. @pre the block has kinds
std::string kind_of(const BlockContext& block, const lowering::NumberedNest& kernel);

/// A solution with operators and leaves by their places, and one with those of another kernel of its kind,
/// perhaps in another block: see KnownKernels.
SolvedKernel by_places(const BlockContext& block, const SolvedKernel& solved);
SolvedKernel solved_alike(const BlockContext& block, const SolvedKernel& by_places,
                          const lowering::NumberedNest& kernel);

}  // namespace tessera::schedule
