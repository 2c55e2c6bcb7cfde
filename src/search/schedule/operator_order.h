#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "lowering/tiled_kernel.h"

namespace tessera::schedule {

struct BlockContext;

/// Operators that share a kernel, by number, ascending.
using Region = std::vector<int>;

/// The order that the operators of a block keep: who reads a result of another one, or overwrites what that
/// one reads.
class OperatorOrder {
public:
    explicit OperatorOrder(const BlockContext& block);

    size_t size() const { return before_.size(); }
    /// The operators that run directly before one.
    const std::vector<int>& before(int op) const { return before_[static_cast<size_t>(op)]; }
    /// The operators that read a result of one, or make one that it reads.
    const std::vector<int>& beside(int op) const { return beside_[static_cast<size_t>(op)]; }
    /// True if one runs before the other in every order. Not of an operator and itself.
    bool reaches(int from, int to) const {
        return reaches_[static_cast<size_t>(from)][static_cast<size_t>(to)];
    }
    bool reaches(const Region& from, const Region& to) const;

    /// True if no path leaves the operators and comes back, so that they can be one kernel.
    bool is_convex(const Region& region) const;
    bool is_connected(const Region& region) const;
    /// True if two of the operators share no kernel.
    bool has_pair_apart(const Region& region) const;

    /// The places of regions in an order of execution; of those that may run, first the one whose last
    /// operator has the least number. Nothing if some wait for each other. @pre each operator is in at most
    /// one
    std::optional<std::vector<size_t>> sorted(const std::vector<Region>& regions) const;

private:
    std::vector<std::vector<int>> before_, beside_;
    std::vector<std::vector<bool>> reaches_;
    const std::set<std::pair<int, int>>& apart_;
};

Region region_of(const lowering::NumberedNest& kernel);
/// The operators of two disjoint regions.
Region joined(const Region& a, const Region& b);
bool contains(const Region& region, int op);

/// Every region of two to `most` operators that merges may reach: connected, convex, and without operators
/// that stay alone or apart; the smaller ones first. @return at most `count`
std::vector<Region> regions(const BlockContext& block, const OperatorOrder& order, size_t most, size_t count);

}  // namespace tessera::schedule
