#include "chip/partition/execute_step.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "chip/network.h"
#include "chip/partition/device_plan.h"
#include "chip/partition/edited_program.h"
#include "chip/partition/stated_plan.h"
#include "chip/timeline.h"
#include "ir/ops/decompose.h"
#include "support/error.h"

namespace tessera::partition {
namespace {

/// Plans that each leave more room than the one before.
constexpr int kMostAttempts = 12;

void check_size(const Workload& workload, const Graph& graph, const GraphCall& call,
                const std::string& where) {
    constexpr const char* kAdvice = "tessera chip plan and chip simulate work with sizes alone";
    double iterations = 0;
    for (const size_t o : workload.sequence) {
        double own = 1;
        for (const int64_t extent : workload.operators[o].bound.extents.iterators)
            own *= static_cast<double>(extent);
        iterations += own;
    }
    if (iterations > static_cast<double>(kMostExecutedIterations))
        throw Error(where, graph.name,
                    fmt::format("has {:.4g} iterations in a step, and at most {} are executed with numbers",
                                iterations, kMostExecutedIterations),
                    kAdvice);
    double elements = 0;
    for (const Value& value : graph.values) {
        if (value.kind != ValueKind::kConstant && value.kind != ValueKind::kState) continue;
        double own = static_cast<double>(std::max<int64_t>(1, value.repetitions()));
        for (const int64_t extent : evaluate(value.type.shape, call.symbols))
            own *= static_cast<double>(extent);
        elements += own;
    }
    if (elements > static_cast<double>(kMostFarElements))
        throw Error(where, graph.name,
                    fmt::format("has {:.4g} elements in the HBM, and at most {} are executed with numbers",
                                elements, kMostFarElements),
                    kAdvice);
}

/// Bytes of values that lie on one core while an operator runs, at most.
int64_t bytes_of_values(const ExecutableProgram& program, int32_t cores) {
    const size_t positions = program.operators.size();
    std::vector<size_t> made(program.values.size(), 0);
    for (size_t i = positions; i-- > 0;)
        for (const TensorPlace& place : program.operators[i].to)
            if (place.on_chip >= 0) made[static_cast<size_t>(place.on_chip)] = i;
    for (const auto& [name, value] : program.inputs) made[static_cast<size_t>(value)] = 0;
    int64_t most = 0;
    std::vector<int64_t> bytes(static_cast<size_t>(cores), 0);
    std::vector<std::vector<size_t>> begins(positions), ends(positions + 1);
    for (size_t v = 0; v < made.size(); ++v) {
        begins[made[v]].push_back(v);
        ends[std::min(program.values[v].last_use, positions)].push_back(v);
    }
    const auto add = [&](size_t v, int64_t sign) {
        const ChipValue& value = program.values[v];
        for (const Home& home : value.homes)
            bytes[static_cast<size_t>(home.core)] += sign * ((home.elements.size() * value.bits + 7) / 8);
    };
    for (size_t i = 0; i < positions; ++i) {
        for (const size_t v : begins[i]) add(v, 1);
        most = std::max(most, *std::max_element(bytes.begin(), bytes.end()));
        for (const size_t v : ends[i]) add(v, -1);
    }
    return most;
}

/// The step without its plan, and its workload, which is not too large.
std::pair<PlannedStep, Workload> unplanned(const Graph& graph, const GraphCall& call,
                                           const std::string& where) {
    PlannedStep step{.graph = ops::decompose(graph), .tables = {}, .plan = {}, .program = {}};
    StepFacts facts;
    for (const auto& [name, data] : call.inputs) facts.numbers.emplace(name, data.values);
    Workload workload = graph_workload(step.graph, call.symbols, where, facts);
    check_size(workload, step.graph, call, where);
    return {std::move(step), std::move(workload)};
}

}  // namespace

PlannedStep plan_step(const Graph& graph, const GraphCall& call, const chip::ChipDescription& chip,
                      const std::string& where, const chip::PlanOptions& options) {
    auto [step, workload] = unplanned(graph, call, where);
    workload.carried_bytes = 0;
    for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
        step.tables = chip_tables(workload, chip, where);
        step.plan = chip::plan_schedule(step.tables.problem, options);
        step.program = executable_program(step.graph, call.symbols, step.tables, step.plan.schedule, chip);
        const int64_t needed = bytes_of_values(step.program, chip.chip.cores);
        if (needed <= step.tables.carried_bytes) return std::move(step);
        workload.carried_bytes = needed * chip.chip.cores;
    }
    throw Error(where, chip.chip.name,
                fmt::format("has no room for the values of a step: {} bytes of a core are not enough",
                            step.tables.carried_bytes),
                "give the chip more SRAM");
}

PlannedStep edited_step(const Graph& graph, const GraphCall& call, const chip::ChipDescription& chip,
                        const std::string& where, std::string_view program,
                        const std::string& program_where) {
    auto [step, workload] = unplanned(graph, call, where);
    const EditedProgram edited = read_edited_program(program, program_where, workload, chip);
    StatedTables stated = stated_tables(workload, chip, edited.plans, program_where);
    step.tables = std::move(stated.tables);
    step.plan.schedule = schedule_of(edited.program, std::move(stated.rows));
    if (chip::schedule_fault(step.tables.problem, step.plan.schedule).empty())
        step.plan.total = chip::run_schedule(step.tables.problem, step.plan.schedule).total;
    step.program = executable_program(step.graph, call.symbols, step.tables, step.plan.schedule, chip);
    take_edits(step.program, edited, program_where);
    return std::move(step);
}

std::string step_program_json(const PlannedStep& step, const chip::Chip& chip) {
    std::vector<nlohmann::ordered_json> plans;
    for (size_t i = 0; i < step.plan.schedule.rows.size(); ++i) {
        const PlannedOperator& op = step.tables.operators[step.tables.problem.sequence[i]];
        plans.push_back(stated_plan_json(op, op.rows[step.plan.schedule.rows[i]]));
    }
    return device_program_json(step.program.program, chip, plans);
}

ExecutedStep execute_step(const PlannedStep& step, const chip::ChipDescription& chip, const GraphCall& call) {
    const chip::Network network(chip.chip);
    const chip::Simulation simulation =
        chip::simulate(chip.chip, network, step.program.program, step.graph.name);
    return {execute_program(step.graph, step.program, step.tables, chip, simulation, call),
            simulation.executes.back().end};
}

}  // namespace tessera::partition
