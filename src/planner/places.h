#pragma once

#include <optional>
#include <set>
#include <vector>

#include "lowering/storage.h"
#include "planner/grouping.h"

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
    /// A view of the carried value that its replacement reads at other elements than it writes.
    const Node* view_in_the_way(const BlockView& view) const;
    /// From now on this view has storage of its own; a kernel must compute it.
    void copy(const Node& view) { copied_views_.insert(&view); }
    /// Views of the block that are computed: their layout was decided, or they are outputs.
    std::set<const Node*> copies(const Block& block) const;

private:
    std::optional<ptrdiff_t> group_in_the_way(const BlockView& view, const std::vector<Group>& groups,
                                              const Node* node, std::set<const Node*>& visited) const;
    /// What is known while places of a block are chosen.
    struct Choosing;
    std::optional<ValueId> replaced_operand(const Choosing& known, const Node& node) const;
    const Layout& layout_of(ValueId value) const;
    bool shows_elements_twice(ValueId value) const;
    static bool is_used_later(const Choosing& known, const Node& node, ValueId base);

    const Graph& graph_;
    plan::SpecialisationPlan& out_;
    const lowering::LoweringInput& input_;
    const std::map<std::string, plan::TensorPlan> decided_;
    std::set<const Node*> copied_views_;
};

}  // namespace tessera::planner
