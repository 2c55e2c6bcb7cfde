#pragma once

#include <algorithm>
#include <span>

#include "lowering/movement/interpret/kernel_code.h"

namespace tessera::movement {

inline int64_t floor_divided(int64_t a, int64_t b) {
    const int64_t quotient = a / b;
    return quotient * b > a ? quotient - 1 : quotient;
}

/// The value of an index; read(storage, element) gives those of index operands.
template <class Read>
int64_t index_value(const IndexCode& code, std::span<const int64_t> slots, const Read& read) {
    int64_t result = code.constant;
    for (const IndexCode::Linear& term : code.linear) result += term.coefficient * slots[term.slot];
    for (const IndexCode::Operation& term : code.operations) {
        const auto argument = [&](size_t i) { return index_value(term.arguments[i], slots, read); };
        const int64_t a = argument(0);
        int64_t value = 0;
        switch (term.kind) {
            case Index::AtomKind::kFloorDiv:
                value = floor_divided(a, term.modulus);
                break;
            case Index::AtomKind::kMod:
                value = a - floor_divided(a, term.modulus) * term.modulus;
                break;
            case Index::AtomKind::kProduct:
                value = a * argument(1);
                break;
            case Index::AtomKind::kMin:
                value = std::min(a, argument(1));
                break;
            case Index::AtomKind::kMax:
                value = std::max(a, argument(1));
                break;
            case Index::AtomKind::kRead:
                value = read(term.storage, a);
                break;
            case Index::AtomKind::kVariable:
                break;  // is linear
        }
        result += term.coefficient * value;
    }
    return result;
}

}  // namespace tessera::movement
