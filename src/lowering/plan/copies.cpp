#include "lowering/plan/copies.h"

#include <algorithm>

#include "ir/ops/copy.h"
#include "support/error.h"

namespace tessera::plan {
namespace {

class Copying {
public:
    Copying(const Graph& graph, const std::string& where) : graph_(graph), where_(where) {}

    void add(const std::string& name, const CopyPlan& copy) {
        if (graph_.find(name)) throw Error(where_, name, "is a value of the graph, not a copy of one");
        const auto of = graph_.find(copy.of);
        if (!of) throw Error(where_, name, fmt::format("copies {}, which is not in the graph", copy.of));
        Value value = graph_[*of];
        value.name = name;
        value.kind = ValueKind::kIntermediate;
        value.sources.clear();
        value.concatenation.reset();
        // A copy of a state is an activation, which says that it is rounded; the copy itself loses nothing.
        if (!is_integer(value.type.element) && bits(value.type.element) < 32)
            value.type.rounding = Rounding::kWeights;
        graph_.values.push_back(std::move(value));
        const ValueId made{static_cast<int>(graph_.values.size()) - 1};
        if (copy.is_made) {
            make(*of, made);
            for (const CopyReader& reader : copy.readers) redirect(*of, made, reader);
        } else {
            read(*of, made, copy.readers);
        }
    }
    Graph take() { return std::move(graph_); }

private:
    Node copy(ValueId from, ValueId to, const std::string& value) const {
        std::string name = "copy_" + value;
        while (std::ranges::any_of(graph_.blocks, [&](const Block& block) { return block.find(name); }))
            name += '_';
        return {.name = name,
                .op = ops::copy(graph_.symbols, graph_[from].type),
                .operands = {from},
                .results = {to},
                .previous = {}};
    }

    /// The operator that made `value` makes `made`, of which `value` becomes the copy.
    void make(ValueId value, ValueId made) {
        for (Block& block : graph_.blocks)
            for (auto node = block.nodes.begin(); node != block.nodes.end(); ++node) {
                if (node->results != std::vector{value} || node->previous) continue;
                node->results = {made};
                block.nodes.insert(node + 1, copy(made, value, graph_[made].name));
                return;
            }
        throw Error(where_, graph_[made].name,
                    fmt::format("is made in place of {}, which no operator makes as its only result",
                                graph_[value].name));
    }

    void read(ValueId value, ValueId made, const std::vector<CopyReader>& readers) {
        if (readers.empty()) throw Error(where_, graph_[made].name, "is read by nobody");
        Block* inside = nullptr;
        size_t first = 0;
        for (const CopyReader& reader : readers) {
            const auto [block, at] = redirect(value, made, reader);
            if (inside && inside != block)
                throw Error(where_, graph_[made].name, "has readers in several blocks",
                            "give each block a copy of its own");
            first = inside ? std::min(first, at) : at;
            inside = block;
        }
        inside->nodes.insert(inside->nodes.begin() + static_cast<ptrdiff_t>(first),
                             copy(value, made, graph_[made].name));
    }

    /// The reader reads `made` in place of `value`; where it stands.
    std::pair<Block*, size_t> redirect(ValueId value, ValueId made, const CopyReader& reader) {
        const auto [block, at] = find(reader, graph_[made].name);
        Node& node = block->nodes[at];
        const int tensor = node.definition() ? node.definition()->tensor(reader.tensor) : -1;
        if (tensor < 0 || tensor >= static_cast<int>(node.operands.size()) ||
            node.operands[static_cast<size_t>(tensor)] != value)
            throw Error(where_, graph_[made].name,
                        fmt::format("is for {}.{}, which does not read {}", reader.node, reader.tensor,
                                    graph_[value].name));
        node.operands[static_cast<size_t>(tensor)] = made;
        return {block, at};
    }

    std::pair<Block*, size_t> find(const CopyReader& reader, const std::string& name) {
        for (Block& block : graph_.blocks)
            for (size_t i = 0; i < block.nodes.size(); ++i)
                if (block.nodes[i].name == reader.node) return {&block, i};
        throw Error(where_, name, fmt::format("is for {}, which is not in the graph", reader.node));
    }

    Graph graph_;
    const std::string& where_;
};

}  // namespace

Graph with_copies(const Graph& graph, const Plan& plan, const std::string& where) {
    Copying copying(graph, where);
    for (const auto& [name, copy] : plan.copies) copying.add(name, copy);
    return copying.take();
}

}  // namespace tessera::plan
