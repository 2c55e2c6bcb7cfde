#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ops/define.h"

/// Operators at which the ranks of a program meet (docs/ranks.md). The multiplication by one keeps each from
/// being a view of X.
namespace tessera::ops {

/// Z[r, ..] = X[..]: what the first of the ranks has. The code of every rank writes its own Z[r]
/// (backend/exchanges.h), so that all have one program. Behind it the run time gathers those of the
/// others.
DefinitionPtr exchange(Symbols symbols, const TensorType& type, int64_t ranks);

/// Z[r, .., j, ..] = X[.., r K + j, ..] with K elements of an axis for each rank: what the rank has for every
/// other one. Behind it the run time transposes: Z[r] becomes what rank r has for this one.
/// @pre the number of ranks divides the axis
DefinitionPtr transposed_exchange(Symbols symbols, const TensorType& type, int axis, int64_t ranks);

/// Z[.., j, ..] = X[.., j, ..]: the part of an axis that the first rank has of the whole. The code of every
/// rank writes it where its own part begins (backend/exchanges.h), so that ranks with parts of one size
/// have one program. Behind it the run time fills in the parts of the others, which may be of other sizes.
/// @param starts where the part of each rank begins, and the end of the last one
DefinitionPtr placed_exchange(Symbols symbols, const TensorType& type, int axis,
                              std::span<const int64_t> starts);

/// What the run time does behind an exchange.
struct ExchangeCall {
    enum class Kind : uint8_t { kGather, kTranspose, kPlace };
    Kind kind = Kind::kGather;
    std::vector<int64_t> starts = {};  ///< of kPlace
    bool operator==(const ExchangeCall&) const = default;
};

/// Empty for any other operator.
std::optional<ExchangeCall> exchange_call(const Definition& definition);

/// Whether the ranks meet behind this operator.
bool is_exchange(const Definition& definition);

}  // namespace tessera::ops
