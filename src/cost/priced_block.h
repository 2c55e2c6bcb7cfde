#pragma once

#include <cstddef>
#include <vector>

#include "cost/evaluate.h"
#include "lowering/numbered_nest.h"

namespace tessera::cost {

/// A block whose places are decided, and the evaluator of its kernels.
/// @pre `input` and `model` outlive it
struct PricedBlock {
    PricedBlock(const lowering::LoweringInput& input, const Block& block, std::vector<WeightedSizes> points,
                const CostModel& model, size_t constants)
        : links(lowering::block_links(input, block)),
          is_tile(lowering::tiles_of(links, input)),
          evaluator(input, links, std::move(points), model, constants) {}
    PricedBlock(const PricedBlock&) = delete;
    PricedBlock& operator=(const PricedBlock&) = delete;

    const lowering::BlockLinks links;
    const std::vector<bool> is_tile;  ///< by operator: its results exist in tiles only
    Evaluator evaluator;
};

}  // namespace tessera::cost
