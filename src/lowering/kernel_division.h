#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "lowering/plan/plan.h"
#include "lowering/worker_parts.h"

namespace tessera::lowering {

/// How the workers share the kernel that is being lowered: assigns each worker its part of each operator, and
/// checks that nothing inside the kernel leaves that part.
class KernelDivision {
public:
    /// @throws Error if a divided kernel is also assigned to one worker alone, or if the kernel leaves parts
    /// of an operator that cannot be folded in parts.
    KernelDivision(const plan::KernelPlan& kernel, Storage& storage);

    /// The operator of which the kernel leaves parts; null if there is none.
    const Node* parted() const { return parted_; }
    /// After the last operator. Two kernels of a block may end with one: one leaves parts, the other one
    /// combines them.
    std::string kernel_name() const;
    /// A loop with @worker over these iterations of its nest's root. @throws Error if it is not the first of
    /// all, nor over a reduction of the kernel's last operator.
    void check(const Node& root, const plan::LoopTile& loop, const Range& range) const;
    /// Called before the kernel's loops, for operators that no loop divides.
    void begin_whole(const std::vector<const Node*>& nodes, const Ranges& ranges);
    /// Called inside the loop that divides these operators; `is_lone`: it has one trip.
    void begin_part(const std::vector<const Node*>& nodes, const Ranges& ranges, const std::string& variable,
                    bool is_lone);
    /// A loop further inside begins here.
    void enter(const std::string& variable, const movement::Index& begin);
    /// @throws Error if these iterations of an operator are not within the worker's part.
    void check_stays_in_part(const Node& node, const Ranges& ranges) const;

    const std::vector<movement::WorkerAccess>& accesses() const { return accesses_; }

private:
    void note(const std::vector<const Node*>& nodes, const Ranges& ranges, const Division* division,
              bool is_alone);
    void add(const Node& node, std::vector<movement::WorkerAccess> accesses);
    bool is_within(const movement::Index& begin) const;

    const plan::KernelPlan& kernel_;
    Storage& storage_;
    const Node* parted_;
    std::set<std::string> variables_;  ///< of the division, and of the loops within its trips
    std::map<const Node*, std::vector<size_t>> iterators_;  ///< that the division runs over
    std::vector<movement::WorkerAccess> accesses_;
};

}  // namespace tessera::lowering
