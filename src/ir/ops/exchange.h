#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/ops/define.h"

/// Operators at which the ranks of a program meet (docs/ranks.md). They multiply by one, lest they become
/// views of X.
namespace tessera::ops {

/// Z[r, ..] = X[..]: the first rank's part. The code of every rank writes its own Z[r]
/// (backend/exchanges.h), so that all ranks share one program. The run time then gathers the parts of the
/// others.
DefinitionPtr exchange(Symbols symbols, const TensorType& type, int64_t ranks);

/// Z[r, .., j, ..] = X[.., r K + j, ..] with K elements of an axis for each rank: the rank's part for every
/// other one. The run time then transposes: Z[r] becomes what rank r has for this one.
/// @pre the number of ranks divides the axis
DefinitionPtr transposed_exchange(Symbols symbols, const TensorType& type, int axis, int64_t ranks);

/// Z[.., j, ..] = X[.., j, ..]: the first rank's part of an axis. The code of every rank writes its own part
/// where that begins (backend/exchanges.h), so that ranks with parts of one size share one program. The
/// run time then fills in the parts of the others, which may have other sizes.
/// @param starts where the part of each rank begins, and the end of the last one
DefinitionPtr placed_exchange(Symbols symbols, const TensorType& type, int axis,
                              std::span<const int64_t> starts);

/// The exchange that the run time does after the operator.
struct ExchangeCall {
    enum class Kind : uint8_t { kGather, kTranspose, kPlace };
    Kind kind = Kind::kGather;
    std::vector<int64_t> starts = {};  ///< of kPlace
    bool operator==(const ExchangeCall&) const = default;
};

/// Empty for any other operator.
std::optional<ExchangeCall> exchange_call(const Definition& definition);

/// True if the ranks meet after this operator.
bool is_exchange(const Definition& definition);

}  // namespace tessera::ops
