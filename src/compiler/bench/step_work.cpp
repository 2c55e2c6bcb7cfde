#include "compiler/bench/step_work.h"

#include <algorithm>
#include <vector>

#include "ir/checked_arithmetic.h"
#include "ir/facts/touched.h"
#include "ir/facts/work.h"

namespace tessera::benchmark {
namespace {

/// The walk over one graph at one set of sizes.
class Walk {
public:
    Walk(const Graph& graph, const std::map<std::string, int64_t>& symbols, const InputContents& inputs)
        : graph_(graph), symbols_(symbols), inputs_(inputs), state_of_(graph.values.size(), -1) {
        for (size_t v = 0; v < graph.values.size(); ++v)
            if (graph.values[v].kind == ValueKind::kState) state_of_[v] = static_cast<int>(v);
    }

    StepWork run() {
        for (const Block& block : graph_.blocks)
            for (const Node& node : block.nodes) add(node, block.repeat);
        StepWork work = work_;
        for (const auto& [value, traffic] : traffic_) {
            const Value& tensor = graph_.values[static_cast<size_t>(value)];
            const int64_t read = times(traffic.read, traffic.repeat);
            if (tensor.kind == ValueKind::kConstant) {
                work.weight_bytes = plus(work.weight_bytes, read);
                continue;
            }
            work.cache_bytes_read = plus(work.cache_bytes_read, read);
            work.cache_bytes_written = plus(work.cache_bytes_written, times(traffic.written, traffic.repeat));
        }
        return work;
    }

private:
    /// The traffic of one repetition. Several operators may read the same elements, and then one reading
    /// serves all: the reads of the largest of them are the least that must move.
    struct Traffic {
        int64_t read = 0;
        int64_t written = 0;
        int64_t repeat = 1;
    };

    int64_t plus(int64_t a, int64_t b) const { return checked_add(a, b, graph_.name); }
    int64_t times(int64_t a, int64_t b) const { return checked_mul(a, b, graph_.name); }

    void add(const Node& node, int64_t repeat) {
        const Definition* definition = node.definition();
        TESSERA_CHECK(definition != nullptr, "{} is not decomposed", node.name);
        facts::BoundDefinition bound =
            facts::bind_unfilled(*definition, dims_of(*definition, symbols_), node.name);
        for (size_t i = 0; i < node.operands.size(); ++i) fill(bound, i, node.operands[i]);

        const facts::Work each = facts::derive_work(bound);
        work_.flops = plus(work_.flops, times(each.flops, repeat));
        work_.special = plus(work_.special, times(each.special, repeat));
        if (definition->monoid == Monoid::kSum || definition->monoid == Monoid::kSoftmaxSum)
            work_.multiply_adds = plus(work_.multiply_adds, times(2 * each.points, repeat));

        const std::vector<facts::Touched> touched = facts::derive_touched(bound);
        for (size_t i = 0; i < node.operands.size(); ++i)
            if (Traffic* traffic = traffic_of(node.operands[i], repeat))
                traffic->read = std::max(traffic->read, touched[i].bytes);
        for (size_t i = 0; i < node.results.size(); ++i) {
            if (!node.previous) continue;
            const auto result = static_cast<size_t>(node.results[i].index);
            state_of_[result] = state_of_[static_cast<size_t>(node.previous->index)];
            if (Traffic* traffic = traffic_of(node.results[i], repeat))
                traffic->written = std::max(traffic->written, touched[node.operands.size() + i].bytes);
        }
    }

    void fill(facts::BoundDefinition& bound, size_t tensor, ValueId id) const {
        const Value& value = graph_[id];
        if (value.kind != ValueKind::kInput) return;
        const auto found = inputs_.find(value.name);
        if (found != inputs_.end()) bound.contents[tensor].assign(found->second.begin(), found->second.end());
    }

    /// Null for values that are neither weights nor states.
    Traffic* traffic_of(ValueId id, int64_t repeat) {
        const Value& value = graph_[id];
        const bool is_weight = value.kind == ValueKind::kConstant;
        const int tensor = is_weight ? id.index : state_of_[static_cast<size_t>(id.index)];
        if (tensor < 0) return nullptr;
        Traffic& traffic = traffic_[tensor];
        traffic.repeat = is_weight ? value.repetitions() : repeat;
        return &traffic;
    }

    const Graph& graph_;
    const std::map<std::string, int64_t>& symbols_;
    const InputContents& inputs_;
    std::vector<int> state_of_;  ///< for each value the state that it is a version of; -1 for others
    std::map<int, Traffic> traffic_;
    StepWork work_;
};

}  // namespace
}  // namespace tessera::benchmark

namespace tessera {
StepWork& StepWork::operator+=(const StepWork& other) {
    flops += other.flops;
    multiply_adds += other.multiply_adds;
    special += other.special;
    weight_bytes += other.weight_bytes;
    cache_bytes_read += other.cache_bytes_read;
    cache_bytes_written += other.cache_bytes_written;
    return *this;
}
}  // namespace tessera

namespace tessera::benchmark {

StepWork step_work(const Graph& graph, const std::map<std::string, int64_t>& symbols,
                   const InputContents& inputs) {
    return Walk(graph, symbols, inputs).run();
}

}  // namespace tessera::benchmark
