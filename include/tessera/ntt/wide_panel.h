#pragma once

#include "tessera/ntt/group.h"
#include "tessera/ntt/operands.h"

// A panel of B as F32, made once for many rows of A: numbers of 16 bits are widened, and encoded ones
// decoded, once for all blocks of rows and not again for each.

namespace tessera::ntt::detail {

/// Groups [first, first + NR) of L lanes from k = first_k on, those of all groups at one k beside each other.
template <int NR, int L>
struct WidePanel {
    const float* data;
    int64_t first, first_k;

    template <AnyVector V, Extent Count>
    [[gnu::always_inline]] V load(int64_t group, int64_t k, Count) const {
        return ntt::load<V>(data + ((k - first_k) * NR + (group - first)) * L);
    }
};

}  // namespace tessera::ntt::detail
