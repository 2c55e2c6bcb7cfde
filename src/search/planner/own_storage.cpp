// Outputs first, so that no state or carried value is one; then states, so that every new contents is made by
// a chain of updates that begins at the old one; then what blocks carry in; then the order of reads and
// updates; last what blocks carry out, which is asked of the planner itself.
#include "search/planner/own_storage.h"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "ir/ops/copy.h"
#include "lowering/views.h"
#include "search/planner/places.h"

namespace tessera::planner {
namespace {

bool contains(const std::vector<ValueId>& values, ValueId value) {
    return std::ranges::find(values, value) != values.end();
}

class Separation {
public:
    explicit Separation(const Graph& graph) : graph_(graph) {
        for (const Value& value : graph.values) value_names_.insert(value.name);
        for (const Block& block : graph.blocks) {
            block_names_.insert(block.name);
            for (const Node& node : block.nodes) node_names_.insert(node.name);
        }
    }

    std::optional<Graph> run() {
        for (size_t b = 0; b < graph_.blocks.size(); ++b) keep_outputs(b);
        for (size_t b = 0; b < graph_.blocks.size(); ++b) keep_states(b);
        for (size_t b = 0; b < graph_.blocks.size(); ++b) carry_in(b);
        for (Block& block : graph_.blocks)
            for (size_t i = 0; i < block.nodes.size(); ++i) i = order_update(block, i);
        for (Block& block : graph_.blocks) carry_out(block);
        if (!is_changed_) return std::nullopt;
        return std::move(graph_);
    }

private:
    static std::string unused(std::set<std::string>& names, const std::string& wanted) {
        std::string name = wanted;
        for (int i = 2; !names.insert(name).second; ++i) name = fmt::format("{}_{}", wanted, i);
        return name;
    }

    bool is_output(ValueId value) const { return contains(graph_.outputs, value); }

    /// An intermediate of the type of `like`.
    ValueId new_value(ValueId like, const std::string& name) {
        is_changed_ = true;
        Value value{.name = unused(value_names_, name), .type = graph_[like].type};
        graph_.values.push_back(std::move(value));
        return {static_cast<int>(graph_.values.size()) - 1};
    }

    /// Gives the value the rounding of an activation.
    void make_activation(ValueId value) {
        TensorType& type = graph_.values[static_cast<size_t>(value.index)].type;
        if (!is_integer(type.element) && bits(type.element) < 32) type.rounding = Rounding::kWeights;
    }

    Node copy(ValueId from, ValueId to) {
        make_activation(to);
        return {.name = unused(node_names_, graph_[to].name),
                .op = ops::copy(graph_.symbols, graph_[from].type),
                .operands = {from},
                .results = {to},
                .previous = {}};
    }

    Node overwrite(ValueId from, ValueId previous, ValueId to) {
        return {.name = unused(node_names_, graph_[to].name),
                .op = ops::overwrite(graph_.symbols, graph_[previous].type),
                .operands = {from},
                .results = {to},
                .previous = previous};
    }

    static bool is_made_in(const Block& block, ValueId value) {
        return std::ranges::any_of(block.nodes,
                                   [&](const Node& node) { return contains(node.results, value); });
    }

    static void replace(Node& node, ValueId value, ValueId by) {
        std::ranges::replace(node.operands, value, by);
        if (node.previous == value) node.previous = by;
    }

    /// Replaces `value` by `by` everywhere but in the list of outputs.
    void replace_all(ValueId value, ValueId by) {
        for (Block& block : graph_.blocks) {
            for (Node& node : block.nodes) {
                replace(node, value, by);
                std::ranges::replace(node.results, value, by);
            }
            if (block.carried_in == value) block.carried_in = by;
            if (block.carried_out == value) block.carried_out = by;
            for (StateUpdate& update : block.states)
                if (update.after == value) update.after = by;
        }
    }

    /// A block of one repetition at this place, for copies.
    Block& insert_block(size_t at, const std::string& name) {
        Block block;
        block.name = unused(block_names_, name);
        return *graph_.blocks.insert(graph_.blocks.begin() + static_cast<ptrdiff_t>(at), std::move(block));
    }

    // outputs

    /// Copies outputs that are a state's new contents, carried out, or results of updates.
    void keep_outputs(size_t b) {
        std::vector<ValueId> taken;
        const auto take = [&](ValueId value) {
            if (is_output(value) && !contains(taken, value)) taken.push_back(value);
        };
        for (const StateUpdate& update : graph_.blocks[b].states) take(update.after);
        for (const Node& node : graph_.blocks[b].nodes)
            if (node.previous) take(node.results.front());
        if (graph_.blocks[b].repeat > 1 && graph_.blocks[b].carried_out) take(*graph_.blocks[b].carried_out);
        for (const ValueId value : taken) {
            const ValueId inside = new_value(value, graph_[value].name + "_inside");
            replace_all(value, inside);
            Block& behind = graph_.blocks[b].repeat > 1
                                ? insert_block(b + 1, graph_.blocks[b].name + "_outputs")
                                : graph_.blocks[b];
            behind.nodes.push_back(copy(inside, value));
        }
    }

    // states

    /// The updates that lead from the previous contents to the value, last one first; nothing if none do.
    static std::vector<const Node*> updates_between(const Block& block, ValueId before, ValueId after) {
        std::vector<const Node*> chain;
        while (after != before) {
            const auto node = std::ranges::find_if(
                block.nodes, [&](const Node& each) { return contains(each.results, after); });
            if (node == block.nodes.end() || !node->previous) return {};
            chain.push_back(&*node);
            after = *node->previous;
        }
        return chain;
    }

    void keep_states(size_t b) {
        for (size_t s = 0; s < graph_.blocks[b].states.size(); ++s) {
            Block& block = graph_.blocks[b];
            const StateUpdate update = block.states[s];
            if (!updates_between(block, update.before, update.after).empty()) continue;
            const ValueId kept = new_value(update.before, graph_[update.before].name + "_kept");
            block.nodes.push_back(overwrite(update.after, update.before, kept));
            block.states[s].after = kept;
        }
    }

    // what blocks carry in

    /// True if somebody but `block` reads the value when the block has begun, or keeps it.
    bool is_needed_beside(const Block& block, ValueId value) const {
        if (is_output(value)) return true;
        bool is_behind = false;
        for (const Block& other : graph_.blocks) {
            if (is_behind && other.carried_in == value) return true;
            for (const StateUpdate& update : other.states)
                if (update.after == value) return true;
            for (const Node& node : other.nodes) {
                if (is_behind && (contains(node.operands, value) || node.previous == value)) return true;
                // Made in place of what may not be the step's own.
                if (&other != &block && node.previous && contains(node.results, value)) return true;
            }
            is_behind |= &other == &block;
        }
        return false;
    }

    void carry_in(size_t b) {
        const Block& block = graph_.blocks[b];
        if (block.repeat == 1 || !block.carried_in) return;
        const ValueId carried = *block.carried_in;
        if (graph_[carried].kind == ValueKind::kIntermediate && !is_needed_beside(block, carried)) return;
        const ValueId own = new_value(carried, graph_[carried].name + "_carried");
        Block& inside = graph_.blocks[b];
        inside.carried_in = own;
        for (Node& node : inside.nodes) replace(node, carried, own);
        Node made = copy(carried, own);
        if (b > 0 && graph_.blocks[b - 1].repeat == 1) {
            graph_.blocks[b - 1].nodes.push_back(std::move(made));
            return;
        }
        const std::string name = inside.name + "_inputs";
        insert_block(b, name).nodes.push_back(std::move(made));
    }

    // reads and updates

    /// True if the operator may overwrite what it updates, apart from what reads that in its own block.
    bool may_overwrite(const Block& block, const Node& update) const {
        const ValueId previous = *update.previous;
        for (const StateUpdate& state : block.states)
            for (const Node* node : updates_between(block, state.before, state.after))
                if (node == &update) return true;
        if (graph_[previous].kind != ValueKind::kIntermediate || is_output(previous)) return false;
        if (block.repeat > 1 && block.carried_in == previous) return true;
        if (!is_made_in(block, previous) || block.carried_out == previous) return false;
        // A result of an update may lie in a state, which this one is not to change.
        const bool is_update = std::ranges::any_of(
            block.nodes, [&](const Node& node) { return node.previous && contains(node.results, previous); });
        return !is_update && !BlockView(graph_, block).escapes(previous);
    }

    static bool reads(const Node& node, ValueId value) {
        return contains(node.operands, value) || node.previous == value;
    }

    /// Puts reads of what the operator at `at` updates before it. @return its place then
    size_t order_update(Block& block, size_t at) {
        if (!block.nodes[at].previous) return at;
        if (!may_overwrite(block, block.nodes[at])) return update_copy(block, at);
        const ValueId previous = *block.nodes[at].previous;
        at = hoist_readers(block, at, previous);
        // Readers that are left need what it makes.
        const bool reads_itself =
            contains(block.nodes[at].operands, previous) &&
            !lowering::may_replace(block.nodes[at], previous, [](ValueId value) { return value; });
        const bool is_read_later =
            std::any_of(block.nodes.begin() + static_cast<ptrdiff_t>(at) + 1, block.nodes.end(),
                        [&](const Node& node) { return reads(node, previous); });
        if (!is_read_later && !reads_itself) return at;
        const ValueId before = new_value(previous, graph_[previous].name + "_before");
        for (size_t i = at + 1; i < block.nodes.size(); ++i) replace(block.nodes[i], previous, before);
        if (reads_itself) std::ranges::replace(block.nodes[at].operands, previous, before);
        Node made = copy(previous, before);
        block.nodes.insert(block.nodes.begin() + static_cast<ptrdiff_t>(at), std::move(made));
        return at + 1;
    }

    size_t update_copy(Block& block, size_t at) {
        const ValueId previous = *block.nodes[at].previous;
        const ValueId own = new_value(previous, graph_[previous].name + "_copy");
        block.nodes[at].previous = own;
        // A result in place of an activation is not bound to a state's type.
        for (const ValueId result : block.nodes[at].results) make_activation(result);
        Node made = copy(previous, own);
        block.nodes.insert(block.nodes.begin() + static_cast<ptrdiff_t>(at), std::move(made));
        return at + 1;
    }

    /// Moves operators behind `at` that read the value, and what they need, in front of it, unless they need
    /// what it makes. @return where it stands then
    size_t hoist_readers(Block& block, size_t at, ValueId value) {
        const size_t count = block.nodes.size();
        const std::vector<ValueId> results = block.nodes[at].results;
        std::set<ValueId> dependent(results.begin(), results.end());
        std::vector<bool> moves(count);
        for (size_t i = at + 1; i < count; ++i) {
            const Node& node = block.nodes[i];
            const bool depends =
                std::ranges::any_of(dependent, [&](ValueId made) { return reads(node, made); });
            if (depends) dependent.insert(node.results.begin(), node.results.end());
            // An update stays where it is, lest it passes reads of what it updates.
            moves[i] = !depends && !node.previous && reads(node, value);
        }
        for (size_t i = count; i-- > at + 1;) {
            if (!moves[i]) continue;
            for (size_t j = at + 1; j < i; ++j)
                for (const ValueId made : block.nodes[j].results)
                    if (reads(block.nodes[i], made)) {
                        if (block.nodes[j].previous)
                            moves[i] = false;
                        else
                            moves[j] = true;
                    }
        }
        // An operator that needs one that stays, stays too.
        for (size_t i = at + 1; i < count; ++i)
            for (size_t j = at + 1; moves[i] && j < i; ++j)
                for (const ValueId made : block.nodes[j].results)
                    moves[i] = moves[i] && (moves[j] || !reads(block.nodes[i], made));
        if (std::ranges::none_of(moves, [](bool is) { return is; })) return at;
        is_changed_ = true;
        std::vector<Node> order;
        for (size_t i = 0; i < at; ++i) order.push_back(std::move(block.nodes[i]));
        for (size_t i = at + 1; i < count; ++i)
            if (moves[i]) order.push_back(std::move(block.nodes[i]));
        const size_t now = order.size();
        order.push_back(std::move(block.nodes[at]));
        for (size_t i = at + 1; i < count; ++i)
            if (!moves[i]) order.push_back(std::move(block.nodes[i]));
        block.nodes = std::move(order);
        return now;
    }

    // what blocks carry out

    void carry_out(Block& block) {
        if (block.repeat == 1 || !block.carried_out || carries_in_place(graph_, block)) return;
        const ValueId out = *block.carried_out;
        const ValueId kept = new_value(*block.carried_in, graph_[out].name + "_carried");
        bool is_behind = false;
        for (Block& other : graph_.blocks) {
            if (is_behind) {
                if (other.carried_in == out) other.carried_in = kept;
                for (Node& node : other.nodes) replace(node, out, kept);
            }
            is_behind |= &other == &block;
        }
        block.nodes.push_back(overwrite(out, *block.carried_in, kept));
        block.carried_out = kept;
    }

    Graph graph_;
    std::set<std::string> value_names_, node_names_, block_names_;
    bool is_changed_ = false;
};

}  // namespace

std::optional<Graph> with_own_storage(const Graph& graph) {
    return Separation(graph).run();
}

}  // namespace tessera::planner
