#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/definition.h"
#include "ir/tensor_type.h"
#include "machine/machine.h"

/// How the tensors of an operator lie when some of its iterators are packed (paper 000, 3.1.2): derived from
/// the definition and from what the units of a machine take.
namespace tessera::rules {

/// `factor` neighbouring values of an iterator lie together.
struct PackedIterator {
    int iterator;
    int64_t factor;
    bool operator==(const PackedIterator&) const = default;
};
/// Outermost first; an iterator may occur twice, as in `<k:16, n:16, k:2>`.
using Packing = std::vector<PackedIterator>;

/// One way to pack an operator: a packing for each tensor, as Definition::tensors.
struct OperatorPacking {
    std::vector<Packing> tensors;
    std::string unit;  ///< the unit that has these lanes
};

/// How iterator x, in aligned groups of `factor`, runs through the tensor: along this axis, one element a
/// step; nothing where it does not, or leaves an aligned group, or where an index finds the element.
std::optional<int> packed_axis(const Definition& definition, int tensor, int x, int64_t factor);

/// The layout of a tensor of this shape under a packing, simplified. Iterators that do not run along an axis
/// of it leave it as it is: a tensor may always lie otherwise than a unit would like it.
Layout layout_of(const Definition& definition, int tensor, const Packing& packing,
                 const std::vector<Dim>& shape);

/// The packing under which the tensor has these lanes; nothing if another order of its axes, or lanes of
/// axes along which no iterator runs, are needed.
std::optional<Packing> packing_of(const Definition& definition, int tensor, const Layout& layout);

/// Every packing of every set of iterators that one of the units takes.
///
/// A unit's axis stands for a parallel iterator of the operator if the unit's result has it, else for a
/// reduction. The operands of a vector unit may broadcast: lanes along any one iterator are always a way.
/// With a matrix unit, an iterator occurs in exactly the operands whose lanes name the axis, and their types
/// are the unit's.
std::vector<OperatorPacking> packings_for(const Definition& definition,
                                          const std::vector<machine::ComputeUnit>& units);

}  // namespace tessera::rules
