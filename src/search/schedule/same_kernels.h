#pragma once

#include <string>
#include <vector>

#include "lowering/tiled_kernel.h"

namespace tessera::schedule {

struct BlockContext;
struct SolvedKernel;
struct KnownKernels;

/// The search's knowledge of an operator, apart from its neighbours.
struct OperatorKind {
    /// Equal for operators that lower alike and take as long: equal definitions, except for names and
    /// constants of their arithmetic, on values with equal types and places.
    int number = 0;
    std::vector<int> storages = {};  ///< of Definition::tensors: equal numbers lie at one place
};

/// The kinds by operator; blocks with the same `known` share numbers. @pre the block has the leaves of its
/// operators
std::vector<OperatorKind> operator_kinds(const lowering::LoweringInput& input, const BlockContext& block,
                                         KnownKernels& known);

/// A key that is equal for kernels that lower alike and take as long: their operators are of the same kinds,
/// and read each other's results in the same way. Repeated layers of a graph have such kernels, and chains of
/// equal maps. @pre the block has kinds
std::string kind_of(const BlockContext& block, const lowering::NumberedNest& kernel);

/// A solution with operators and leaves by their places, and one with those of another kernel of its kind,
/// perhaps in another block: see KnownKernels.
SolvedKernel by_places(const BlockContext& block, const SolvedKernel& solved);
SolvedKernel solved_alike(const BlockContext& block, const SolvedKernel& by_places,
                          const lowering::NumberedNest& kernel);

}  // namespace tessera::schedule
