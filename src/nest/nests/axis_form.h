#pragma once

#include <cstdint>
#include <vector>

#include "ir/facts/bound_definition.h"
#include "ir/quasi_affine.h"

namespace tessera::nests {

/// The values of a direct component of an access map over a box of iterations: in [first, last).
struct AxisValues {
    int64_t first = 0;
    int64_t last = 1;
    bool is_exact = true;       ///< both ends are taken
    bool is_contiguous = true;  ///< and all between them; says nothing if the ends are not taken
};

/// A direct component of an access map, prepared for many boxes.
class AxisForm {
public:
    AxisForm(const ExprPtr& component, const facts::BoundDefinition& bound);

    /// @pre no range is empty, and all lie within the extents
    AxisValues over(const facts::IterationBox& ranges) const;
    /// Bit i: the form depends on iterator i.
    uint64_t iterators() const { return iterators_; }

private:
    AxisForm(const QuasiAffine& form, const facts::BoundDefinition& bound);

    struct Term {
        int64_t factor;
        QuasiAtom::Kind kind;
        size_t iterator;              ///< of kIterator
        int64_t divisor;              ///< of kFloorDiv and kMod
        std::vector<AxisForm> inner;  ///< of kFloorDiv and kMod: one
    };
    static AxisValues values_of(const Term& term, const facts::IterationBox& ranges);

    int64_t constant_ = 0;
    std::vector<Term> terms_;  ///< smaller factors first
    bool shares_iterators_ = false;
    uint64_t iterators_ = 0;
};

}  // namespace tessera::nests
