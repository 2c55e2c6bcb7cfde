#pragma once

#include <optional>
#include <set>
#include <vector>

#include "lowering/storage.h"
#include "search/planner/grouping.h"

namespace tessera::planner {

/// Chooses where every intermediate value of a block lies: tiles inside a group, views and updates where the
/// definitions allow it, results in the place of operands that nothing reads later, the arena else. The
/// carried value of a repeated block must stay in its place; obstacles to that are named, for the caller to
/// remove.
class Places {
public:
    /// Writes into `out`, which `input` reads. Decisions in `out` are kept: layouts of values, and the place
    /// of a possible view in the arena.
    Places(const lowering::LoweringInput& input, plan::SpecialisationPlan& out)
        : graph_(input.graph), out_(out), input_(input), decided_(out.tensors) {}

    void choose(const BlockView& view, const std::vector<Group>& groups);

    /// The group of several that keeps the carried value from staying in its place.
    std::optional<ptrdiff_t> group_in_the_way(const BlockView& view, const std::vector<Group>& groups) const;
    /// Places where every operator is a kernel of its own. Views that cannot be views have storage of their
    /// own from then on, and kernels must compute them.
    /// @return the block with these as operators
    BlockView choose_alone(const Block& block);
    /// Has `choose_alone` compute a view from now on, or show it again.
    void compute(const Node& view, bool is_computed) {
        is_computed ? (void)copied_views_.insert(&view) : (void)copied_views_.erase(&view);
    }

private:
    /// A view of the carried value that its replacement reads at other elements than it writes, or that is
    /// carried out itself.
    const Node* view_in_the_way(const BlockView& view) const;
    /// Views of the block that are computed: their layout was decided, they are outputs, or what they show is
    /// overwritten while they are read.
    std::set<const Node*> copies(const Block& block) const;
    std::optional<ptrdiff_t> group_in_the_way(const BlockView& view, const std::vector<Group>& groups,
                                              const Node* node, std::set<const Node*>& visited) const;
    /// The knowledge while places of a block are chosen.
    struct Choosing;
    std::optional<ValueId> replaced_operand(const Choosing& known, const Node& node) const;
    bool is_overwritten(const Block& block, const Node& view) const;
    const Layout& layout_of(ValueId value) const;
    bool shows_elements_twice(ValueId value) const;
    static bool is_used_later(const Choosing& known, const Node& node, ValueId base);
    /// True if another operator of the same kernel writes over the result. If the result took over storage
    /// that the node reads, this would be overwritten before all of it is read.
    bool is_overwritten_beside(const Choosing& known, const Node& node, ValueId result) const;

    const Graph& graph_;
    plan::SpecialisationPlan& out_;
    const lowering::LoweringInput& input_;
    const std::map<std::string, plan::TensorPlan> decided_;
    std::set<const Node*> copied_views_;
};

/// True if the planner can make what a repeated block carries out in the place of what it carries in.
/// @pre there are both
bool carries_in_place(const Graph& graph, const Block& block);

}  // namespace tessera::planner
