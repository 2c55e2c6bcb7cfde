#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "search/schedule/operator_order.h"
#include "search/schedule/structure.h"

namespace tessera::schedule {

/// Nests of merged kernels, each once.
class MergedNests {
public:
    MergedNests(const BlockContext& block, const KernelLimits& limits) : block_(block), limits_(limits) {}

    /// Those that each place of one kernel in another one makes (merge, paper 000, 3.2.1).
    void add(const lowering::NumberedNest& from, const lowering::NumberedNest& into);
    std::vector<lowering::NumberedNest> take() { return std::move(nests_); }

private:
    const BlockContext& block_;
    const KernelLimits limits_;
    std::vector<lowering::NumberedNest> nests_;
    std::set<std::string> seen_;
};

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
