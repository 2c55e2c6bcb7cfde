#pragma once

#include <map>
#include <vector>

#include "search/schedule/operator_order.h"
#include "search/schedule/structure.h"

namespace tessera::schedule {

/// The nests of a kernel that each place of one kernel in another one makes (merge, paper 000, 3.2.1).
std::vector<lowering::NumberedNest> nests_of_two(const BlockContext& block,
                                                 const lowering::NumberedNest& from,
                                                 const lowering::NumberedNest& into,
                                                 const KernelLimits& limits);

/// Every nest, without tile sizes, that merges make of the operators of a region.
class RegionNests {
public:
    RegionNests(const BlockContext& block, const OperatorOrder& order) : block_(block), order_(order) {}

    /// @pre the region is connected and convex
    const std::vector<lowering::NumberedNest>& operator()(const Region& region);

private:
    std::vector<lowering::NumberedNest> made(const Region& region);

    const BlockContext& block_;
    const OperatorOrder& order_;
    std::map<Region, std::vector<lowering::NumberedNest>> known_;
};

}  // namespace tessera::schedule
