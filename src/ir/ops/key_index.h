#pragma once

#include "ir/ops/attention.h"

/// An index that chooses the keys that a token sees: AttentionForm::chosen.
///
///     queries of the token, keys --products--> of each head --scores--> of each key --ranks--> the first N
///     count
namespace tessera::ops {

/// max(sum over e of Q[first[b] + i, r, e] K[.., e], 0): scores of the heads of an index. Operands: first,
/// length, start, page, Q, K. Result: f32[sequences, heads of the index, segment, cached].
DefinitionPtr index_products(Symbols symbols, const AttentionShape& shape, ElementType cache,
                             const AttentionForm& form);
/// The sum over r of W[first[b] + i, r] products[b, r, i, s]. Operands: first, length, start, W, products.
/// Result: f32[sequences, segment, cached].
DefinitionPtr index_scores(Symbols symbols, const AttentionShape& shape, const AttentionForm& form);
/// How many visible keys have a higher score, or the same and an earlier place. Operands: length, start,
/// scores, twice. Result: f32[sequences, segment, cached].
DefinitionPtr index_ranks(Symbols symbols, const AttentionShape& shape, const AttentionForm& form);

}  // namespace tessera::ops
