#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "lowering/storage.h"

/// The default planner's view of a block: producers and readers of values, and the operators of each kernel.
namespace tessera::planner {

/// Nodes of one kernel, in order; the last one is the root.
struct Group {
    std::vector<const Node*> nodes;
};

class BlockView {
public:
    /// `copies`: nodes that could be views and are computed all the same.
    BlockView(const Graph& graph, const Block& block, std::set<const Node*> copies = {});

    bool is_view(const Node& node) const;

    const Node* producer(ValueId value) const;
    /// Nodes of the block that read the value, views followed; null for readers outside of it, and where it
    /// is updated, for those of the update.
    std::vector<const Node*> readers(ValueId value) const;
    /// True if something outside the block sees the value.
    bool escapes(ValueId value) const;
    /// True if something behind the block sees the value: a later block or the caller, if it is an output.
    bool is_seen_behind(ValueId value) const;
    /// True if all results of `node` are read inside `nodes` only.
    bool is_private(const Node& node, const std::vector<const Node*>& nodes) const;
    const Graph& graph() const { return graph_; }
    const Block& block() const { return block_; }

private:
    const Graph& graph_;
    const Block& block_;
    std::set<const Node*> copies_;
    std::map<ValueId, const Node*> producers_;
    std::map<ValueId, std::vector<const Node*>> readers_;
    std::set<ValueId> seen_behind_;
};

/// One group for each operator, in an order of execution. Views are in no group.
std::vector<Group> lone_groups(const BlockView& view);

}  // namespace tessera::planner
