#include "chip/partition/executed_programs.h"

#include <cmath>
#include <random>

#include <fmt/core.h>

#include "chip/network.h"
#include "chip/partition/workload.h"
#include "chip/simulation.h"
#include "support/error.h"

namespace tessera::partition {
namespace {

/// Sums are added in another order, so a number may be rounded otherwise, relative to the largest one.
double tolerance(ElementType type) {
    if (type == ElementType::kF16) return 2e-3;
    if (type == ElementType::kBF16) return 1.6e-2;
    return 1e-5;
}

std::string difference_of(const std::string& name, ElementType type, const TensorData& expected,
                          const TensorData& found) {
    if (expected.shape != found.shape) return name + " has another shape";
    double largest = 0;
    for (const double value : expected.values)
        if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
    for (size_t i = 0; i < expected.values.size(); ++i) {
        const double a = expected.values[i], b = found.values[i];
        if (a == b || (std::isnan(a) && std::isnan(b))) continue;
        if (std::fabs(a - b) <= tolerance(type) * largest) continue;
        return fmt::format("{}[{}] is {}, expected {}", name, i, b, a);
    }
    return {};
}

}  // namespace

GraphAndCall graph_of(const DefinitionFile& file, uint64_t seed) {
    const std::vector<int64_t> dims = bound_dims(file);
    const BoundExtents extents = bound_extents(file, "drawn.op");
    const std::vector<TensorData> contents = test_contents(file, extents, "drawn.op");
    GraphAndCall made;
    Graph& graph = made.graph;
    graph.name = "drawn";
    for (size_t d = 0; d < dims.size(); ++d) {
        graph.symbols.push_back(file.definition.dims[d]);
        made.call.symbols.emplace(file.definition.dims[d].name, dims[d]);
    }
    Node node{.name = "op", .op = std::make_shared<const Definition>(file.definition)};
    Block block{.name = "only"};
    std::map<std::string, TensorData> constants;
    for (size_t t = 0; t < contents.size(); ++t) {
        const TensorDecl& decl = file.definition.tensors[t];
        TensorType type{.element = decl.type};
        for (const int64_t extent : extents.shapes[t]) type.shape.emplace_back(extent);
        const auto add = [&](std::string name, ValueKind kind) {
            graph.values.push_back({.name = std::move(name), .kind = kind, .type = type, .sources = {"a"}});
            return ValueId{static_cast<int>(graph.values.size()) - 1};
        };
        if (decl.role == Role::kIndex || (decl.role == Role::kIn && (t + seed) % 2 == 0)) {
            node.operands.push_back(add(decl.name, ValueKind::kInput));
            made.call.inputs.emplace(decl.name, contents[t]);
        } else if (decl.role == Role::kIn) {
            node.operands.push_back(add(decl.name, ValueKind::kConstant));
            constants.emplace(decl.name, contents[t]);
        } else {
            if (decl.role == Role::kUpdate) {
                node.previous = add(decl.name + "_before", ValueKind::kState);
                made.call.states[decl.name + "_before"] = {contents[t]};
            }
            node.results.push_back(add(decl.name, ValueKind::kIntermediate));
            if (node.previous) block.states.push_back({*node.previous, node.results.back()});
            graph.outputs.push_back(node.results.back());
        }
    }
    made.call.constant = [constants](const Value& value, int64_t) { return constants.at(value.name); };
    block.nodes.push_back(std::move(node));
    graph.blocks.push_back(std::move(block));
    return made;
}

DrawnPlan draw_plan(const Graph& graph, const GraphCall& call, const chip::ChipDescription& chip,
                    uint64_t seed) {
    StepFacts facts;
    for (const auto& [name, data] : call.inputs) facts.numbers.emplace(name, data.values);
    DrawnPlan drawn{chip_tables(graph_workload(graph, call.symbols, "drawn", facts), chip, "small.toml"), {}};
    const chip::ScheduleProblem& problem = drawn.tables.problem;
    std::mt19937_64 random(seed);
    // Preloads one or two executes ahead, in the order of the operators.
    for (size_t i = 0; i < problem.size(); ++i) {
        drawn.schedule.rows.push_back(random() % problem.at(i).rows.size());
        drawn.schedule.order.push_back(i);
        drawn.schedule.slots.push_back(
            i == 0 ? 0 : std::max(drawn.schedule.slots.back(), i - random() % std::min<size_t>(i + 1, 3)));
    }
    return drawn;
}

ExecutedProgram run_program(const Graph& graph, const GraphCall& call, const ExecutableProgram& program,
                            const ChipTables& tables, const chip::ChipDescription& chip) {
    const chip::Network network(chip.chip);
    return execute_program(graph, program, tables, chip,
                           chip::simulate(chip.chip, network, program.program, "drawn"), call);
}

std::string difference(const Graph& graph, const GraphCall& call, const GraphResult& found) {
    const GraphResult expected = interpret_graph(graph, call);
    for (size_t o = 0; o < expected.outputs.size(); ++o) {
        const Value& value = graph[graph.outputs[o]];
        const std::string own =
            difference_of(value.name, value.type.element, expected.outputs[o], found.outputs.at(o));
        if (!own.empty()) return own;
    }
    for (const auto& [name, contents] : expected.states)
        for (size_t r = 0; r < contents.size(); ++r) {
            const std::string own = difference_of(fmt::format("{} of repetition {}", name, r),
                                                  graph[*graph.find(name)].type.element, contents[r],
                                                  found.states.at(name).at(r));
            if (!own.empty()) return own;
        }
    return {};
}

}  // namespace tessera::partition
