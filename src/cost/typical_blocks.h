#pragma once

#include <cstdint>
#include <optional>

#include "lowering/plan/leaf.h"
#include "machine/machine.h"

namespace tessera::cost {

/// A unit as a micro-kernel uses it.
struct UnitRate {
    double seconds = 0;   ///< of an instruction
    double lanes = 1;     ///< of its result
    double depth = 1;     ///< products that it adds up for each lane
    double products = 1;  ///< of the unit for each of the operator's
    double decoding = 0;  ///< instructions that make a register of B from what is stored
};

/// The unit of the leaf's micro-kernel with the factors that it multiplies there; nothing if there is none,
/// or none with a peak.
std::optional<UnitRate> unit_of(const machine::Machine& machine, const plan::Leaf& leaf,
                                const plan::KernelTypes& types);

/// Seconds of a product that was not measured.
struct TypicalProduct {
    double all = 0;
    double first = 0;  ///< of the blocks of rows that read a panel of B first
    double step = 0;   ///< of one step of k in one of these
};

/// Seconds of a product of m rows by n columns that was not measured, by its register blocks.
///
/// On a vector unit a whole block multiplies without a pause, as far as is known without measurements: so
/// micro-kernels are told apart by their units and their blocks alone. A lower block of r rows and c groups
/// of lanes (columns, with lanes along k), where the extents leave one (row_blocks.h), takes longer for each
/// multiply-add by the ratio of what bounds both: about the most of r c multiply-adds, of which a core begins
/// two in a cycle; of the r + c loads of its operands, of which it begins as many; and of the latency of a
/// sum, four cycles, which `partial_sums` share (Intel since Skylake, AMD since Zen 2, Arm since Neoverse
/// V1). Besides, the sums of each block are stored, one in a cycle, and nothing hides the last ones. Each
/// block of rows decodes B, or with panels the first one for all. Blocks of a streaming softmax, which are
/// lower than those of other products, are never without a pause.
///
/// On a matrix unit every tile is whole: only measurements tell how much a lower one saves. It fetches B
/// while it computes.
///
/// @param runs parts of k, one behind the other, as the positions of a window: each begins a loop anew
TypicalProduct typical_product(const UnitRate& unit, const plan::Leaf& leaf, int64_t m, int64_t n, int64_t k,
                               int64_t runs = 1);

/// No larger than the sum of these seconds over parts into which m, n and k are cut: as if whole blocks
/// covered everything.
double least_product_seconds(const UnitRate& unit, const plan::Leaf& leaf, int64_t m, int64_t n, int64_t k);

}  // namespace tessera::cost
