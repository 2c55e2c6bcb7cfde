#include "chip/partition/workload.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "ir/ops/decompose.h"
#include "support/error.h"

namespace tessera::partition {
namespace {

constexpr size_t kMostPositions = 100'000;  // the most that `tessera chip schedule` reads

int64_t bytes_of(const TensorType& type, const std::map<std::string, int64_t>& symbols) {
    int64_t elements = 1;
    for (const int64_t extent : evaluate(type.shape, symbols)) elements *= extent;
    return (elements * bits(type.element) + 7) / 8;
}

class WorkloadMaker {
public:
    WorkloadMaker(const Graph& graph, const std::map<std::string, int64_t>& symbols, const std::string& where,
                  const StepFacts& facts)
        : graph_(graph), symbols_(symbols), where_(where), facts_(facts) {}

    Workload make() {
        workload_.name = graph_.name;
        for (const Block& block : graph_.blocks) add(block);
        if (workload_.sequence.empty())
            throw Error(where_, "", "has no operators, so there is nothing to plan");
        workload_.carried_bytes = carried_bytes();
        return std::move(workload_);
    }

private:
    /// True if an operator reads it from the HBM.
    bool is_hbm(ValueId value) const {
        const ValueKind kind = graph_[state_of(graph_, value)].kind;
        return kind == ValueKind::kConstant || (kind == ValueKind::kState && !facts_.makes_states);
    }
    /// True if an operator stores it in the HBM.
    bool is_stored(ValueId value) const {
        return facts_.stores_states && graph_[state_of(graph_, value)].kind == ValueKind::kState;
    }

    WorkOperator operator_of(const Node& node) const {
        const Definition& definition = *node.definition();
        std::map<int, IndexContents> known;
        std::vector<Place> places;
        std::vector<int> values;
        std::map<size_t, std::vector<double>> numbers;  // by position among the tensors that stay
        size_t operand = 0, result = 0;
        for (size_t t = 0; t < definition.tensors.size(); ++t) {
            const Role role = definition.tensors[t].role;
            const bool is_result = role == Role::kOut || role == Role::kUpdate;
            const ValueId value = is_result ? node.results[result++] : node.operands[operand++];
            const auto contents = facts_.contents.find(graph_[value].name);
            if (role == Role::kIndex && contents != facts_.contents.end()) {
                known.emplace(static_cast<int>(t), contents->second);
                continue;
            }
            if (const auto given = facts_.numbers.find(graph_[value].name);
                role == Role::kIndex && given != facts_.numbers.end())
                numbers.emplace(places.size(), given->second);
            const bool is_far = is_result ? is_stored(value) : is_hbm(value);
            places.push_back(is_far ? Place::kHbm : Place::kOnChip);
            values.push_back(value.index);
        }
        const std::string where = fmt::format("{}, node {}", where_, node.name);
        const Definition specialised_definition = specialised(definition, known);
        facts::BoundDefinition bound =
            facts::bind_unfilled(specialised_definition, dims_of(specialised_definition, symbols_), where);
        for (auto& [tensor, given] : numbers) bound.contents[tensor] = std::move(given);
        return {node.name, without_idle_ends(bound), std::move(places), std::move(values)};
    }

    void add(const Block& block) {
        if (block.nodes.empty()) return;
        const size_t first = workload_.sequence.size();
        const auto copies = static_cast<size_t>(block.repeat);
        if (block.nodes.size() > (kMostPositions - first) / std::max<size_t>(1, copies))
            throw Error(where_, block.name,
                        fmt::format("makes more than {} operators in all", kMostPositions));
        const size_t first_operator = workload_.operators.size();
        for (const Node& node : block.nodes) workload_.operators.push_back(operator_of(node));
        for (size_t copy = 0; copy < copies; ++copy)
            for (size_t i = 0; i < block.nodes.size(); ++i) workload_.sequence.push_back(first_operator + i);
        if (copies > 1) workload_.repeats.push_back({first, block.nodes.size(), copies});
    }

    /// The most bytes of values on the chip that are made before an operator and used behind it. A value that
    /// a block carries, or reads from outside, lives through all of the block.
    int64_t carried_bytes() const {
        int64_t most = 0;
        for (const Block& block : graph_.blocks) {
            std::map<int, std::pair<size_t, size_t>>
                life;  // first and last node of each value that needs room
            for (size_t i = 0; i < block.nodes.size(); ++i) {
                for (const ValueId each : block.nodes[i].results) life.emplace(each.index, std::pair(i, i));
                for (const ValueId each : block.nodes[i].operands)
                    if (const auto own = life.find(each.index); own != life.end())
                        own->second.second = i;
                    else
                        life.emplace(each.index, std::pair(size_t{0}, block.nodes.size()));
            }
            if (block.carried_out)
                if (const auto own = life.find(block.carried_out->index); own != life.end())
                    own->second.second = block.nodes.size();
            for (size_t i = 0; i < block.nodes.size(); ++i)
                most = std::max(most, waiting_bytes(block, life, i));
        }
        return most;
    }

    int64_t waiting_bytes(const Block& block, const std::map<int, std::pair<size_t, size_t>>& life,
                          size_t node) const {
        std::set<int> used;
        for (const ValueId each : block.nodes[node].operands) used.insert(each.index);
        for (const ValueId each : block.nodes[node].results) used.insert(each.index);
        int64_t bytes = 0;
        for (const auto& [value, span] : life)
            if (span.first <= node && span.second > node && !used.contains(value) && !is_hbm(ValueId{value}))
                bytes += bytes_of(graph_[ValueId{value}].type, symbols_);
        return bytes;
    }

    const Graph& graph_;
    const std::map<std::string, int64_t>& symbols_;
    const std::string& where_;
    const StepFacts& facts_;
    Workload workload_;
};

}  // namespace

std::map<std::string, int64_t> complete_symbols(const Graph& graph, std::map<std::string, int64_t> symbols,
                                                const std::string& where) {
    for (const auto& [name, value] : symbols)
        if (graph.symbol(name) == nullptr)
            throw Error(where, name, fmt::format("is set to {}, and the graph has no such symbol", value), {},
                        ErrorKind::kUsage);
    for (const DimSymbol& symbol : graph.symbols) {
        if (symbol.low == symbol.high) symbols.emplace(symbol.name, symbol.low);
        const auto found = symbols.find(symbol.name);
        if (found == symbols.end())
            throw Error(
                where, symbol.name, "is a symbol without a value",
                fmt::format("add --set {}=N with N from {} to {}", symbol.name, symbol.low, symbol.high),
                ErrorKind::kUsage);
        if (found->second < symbol.low || found->second > symbol.high ||
            found->second % symbol.multiple_of != 0)
            throw Error(where, symbol.name,
                        fmt::format("is {}, expected a multiple of {} from {} to {}", found->second,
                                    symbol.multiple_of, symbol.low, symbol.high),
                        {}, ErrorKind::kUsage);
    }
    return symbols;
}

void expect_no_recurrences(const Graph& graph, const std::string& where) {
    for (const Block& block : graph.blocks)
        for (const Node& node : block.nodes)
            if (const Definition* definition = node.definition(); definition && definition->is_recurrence())
                throw Error(where, node.name, "is a recurrence, which no chip runs in this version");
}

Workload graph_workload(const Graph& graph, std::map<std::string, int64_t> symbols, const std::string& where,
                        const StepFacts& facts, const GraphPass& pass) {
    expect_no_recurrences(graph, where);
    Graph structured = ops::decompose(graph);
    if (pass) structured = pass(structured);
    symbols = complete_symbols(structured, std::move(symbols), where);
    return WorkloadMaker(structured, symbols, where, facts).make();
}

}  // namespace tessera::partition
