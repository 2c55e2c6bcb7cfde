#include "compiler/tune/lone_kernel.h"

#include <algorithm>
#include <map>

#include "cost/weighted_sizes.h"
#include "ir/ops/copy.h"
#include "support/error.h"

namespace tessera::tune {
namespace {

class Isolating {
public:
    Isolating(const Graph& graph, const plan::Plan& plan, const plan::SpecialisationPlan& specialisation,
              const std::set<std::string>& nodes)
        : graph_(graph), plan_(plan), specialisation_(specialisation), block_(block_of(graph, nodes)) {
        for (const Node& node : block_.nodes)
            if (nodes.contains(node.name)) add_with_views(node);
        out_.graph.name = graph.name;
        out_.graph.symbols = graph.symbols;
        out_.graph.points = cost::points_of(graph, plan, specialisation);
        out_.plan = {.graph = graph.name, .machine = plan.machine, .workers = plan.workers};
        out_.plan.specialisations = {{.name = specialisation.name, .bounds = specialisation.bounds}};
    }

    LoneKernel run() {
        Block before{.name = "before"}, kernel{.name = kLoneBlock}, behind{.name = "behind"};
        before_ = &before;
        for (const Node& node : block_.nodes) {
            if (!inside_.contains(&node)) continue;
            Node lone{.name = node.name, .op = node.op};
            for (const ValueId operand : node.operands) lone.operands.push_back(mapped(operand));
            if (node.previous) lone.previous = mapped(*node.previous);
            for (const ValueId result : node.results) lone.results.push_back(made(result));
            if (node.previous) kernel.states.push_back({*lone.previous, lone.results.front()});
            kernel.nodes.push_back(std::move(lone));
        }
        for (const Node& node : block_.nodes) {
            if (!inside_.contains(&node) || node.previous) continue;
            for (const ValueId result : node.results)
                if (is_read_outside(result)) copy_out(result, behind);
        }
        for (Block* block : {&before, &kernel, &behind})
            if (!block->nodes.empty()) out_.graph.blocks.push_back(std::move(*block));
        verify(out_.graph, out_.graph.name);
        return std::move(out_);
    }

private:
    static const Block& block_of(const Graph& graph, const std::set<std::string>& nodes) {
        for (const Block& block : graph.blocks)
            if (block.find(*nodes.begin())) return block;
        throw Error(graph.name, *nodes.begin(), "is no operator of the graph");
    }

    bool is_view(ValueId value) const {
        const auto at = specialisation_.tensors.find(graph_[value].name);
        return at != specialisation_.tensors.end() && at->second.place == plan::Place::kView;
    }

    const Node* producer(ValueId value) const {
        for (const Node& node : block_.nodes)
            if (std::ranges::find(node.results, value) != node.results.end()) return &node;
        return nullptr;
    }

    /// The operators whose addresses the node reads, too.
    void add_with_views(const Node& node) {
        if (!inside_.insert(&node).second) return;
        for (const ValueId operand : node.operands)
            if (const Node* of = is_view(operand) ? producer(operand) : nullptr) add_with_views(*of);
    }

    bool is_read_outside(ValueId value) const {
        if (std::ranges::find(graph_.outputs, value) != graph_.outputs.end()) return true;
        for (const Block& block : graph_.blocks) {
            if (block.carried_out == value || block.carried_in == value) return true;
            for (const Node& node : block.nodes)
                if (!inside_.contains(&node) &&
                    std::ranges::find(node.operands, value) != node.operands.end())
                    return true;
        }
        return false;
    }

    ValueId add(Value value) {
        out_.graph.values.push_back(std::move(value));
        return {static_cast<int>(out_.graph.values.size()) - 1};
    }

    /// Its layout, where the plan has it whole and not row-major.
    void keep_layout(const std::string& name) {
        const auto at = specialisation_.tensors.find(name);
        if (at == specialisation_.tensors.end() || at->second.layout.is_row_major()) return;
        if (at->second.place == plan::Place::kTile || at->second.place == plan::Place::kView) return;
        out_.plan.specialisations.front().tensors[name] = {.place = plan::Place::kArena,
                                                           .layout = at->second.layout};
    }

    ValueId made(ValueId value) {
        const ValueId lone = add(graph_[value]);
        known_[value] = lone;
        keep_layout(graph_[value].name);
        return lone;
    }

    /// A value that the operators read.
    ValueId mapped(ValueId value) {
        if (const auto known = known_.find(value); known != known_.end()) return known->second;
        const ValueId stored = state_of(graph_, value);
        if (stored != value) return known_[value] = mapped(stored);
        Value own = graph_[value];
        if (own.kind == ValueKind::kConstant) own.sources.resize(own.parts());
        if (own.kind == ValueKind::kConstant || own.kind == ValueKind::kState)
            if (const auto at = plan_.stored.find(own.name); at != plan_.stored.end())
                out_.plan.stored[own.name] = at->second;
        if (own.kind != ValueKind::kIntermediate) return known_[value] = add(std::move(own));
        Value given{.name = "given_" + own.name, .kind = ValueKind::kInput, .type = own.type, .sources = {}};
        keep_layout(own.name);
        const ValueId from = add(std::move(given)), to = add(std::move(own));
        copy(from, to, *before_);
        return known_[value] = to;
    }

    void copy_out(ValueId value, Block& behind) {
        const ValueId from = known_.at(value);
        Value taken = graph_[value];
        taken.name = "taken_" + taken.name;
        const ValueId to = add(std::move(taken));
        copy(from, to, behind);
        out_.graph.outputs.push_back(to);
    }

    void copy(ValueId from, ValueId to, Block& block) {
        const Graph& graph = out_.graph;
        block.nodes.push_back({.name = "copy_" + graph[to].name,
                               .op = ops::copy(graph.symbols, graph[from].type),
                               .operands = {from},
                               .results = {to},
                               .previous = {}});
    }

    const Graph& graph_;
    const plan::Plan& plan_;
    const plan::SpecialisationPlan& specialisation_;
    const Block& block_;
    std::set<const Node*> inside_;
    std::map<ValueId, ValueId> known_;
    Block* before_ = nullptr;
    LoneKernel out_;
};

}  // namespace

LoneKernel lone_kernel(const Graph& graph, const plan::Plan& plan,
                       const plan::SpecialisationPlan& specialisation, const std::set<std::string>& nodes) {
    return Isolating(graph, plan, specialisation, nodes).run();
}

}  // namespace tessera::tune
