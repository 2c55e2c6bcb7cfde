#pragma once

#include <cstdint>

#include "run/runtime/artefact.h"

namespace tessera {

/// The most tokens of a step for which the logits of a token depend on its sequence alone, if all steps are
/// computed by the last specialisation. A product with quantised weights may have another order of its
/// additions from some number of rows on (`panel_blocks` of contract_blocks, ntt/contract_folded.h); all
/// other code computes a row in one way. As many as there can be, where the plan has no such product.
int64_t invariant_tokens(const runtime::Artefact& artefact);

}  // namespace tessera
