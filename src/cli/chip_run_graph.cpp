#include "cli/chip_run_graph.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "chip/partition/drawn_call.h"
#include "chip/partition/execute_step.h"
#include "chip/read_chip_toml.h"
#include "cli/named_values.h"
#include "ir/graph.h"
#include "ir/ops/decompose.h"
#include "search/rules/compose_maps.h"
#include "support/atomic_file.h"
#include "support/error.h"
#include "support/mapped_file.h"
#include "support/output_place.h"
#include "support/printable.h"

namespace tessera::cli {
namespace {

partition::PlannedStep step_of(const GraphRun& run, const Graph& graph, const GraphCall& call,
                               const chip::ChipDescription& chip) {
    if (run.program.empty())
        return partition::plan_step(graph, call, chip, run.graph,
                                    {.work = run.work, .seed = static_cast<uint64_t>(run.seed)});
    return partition::edited_step(graph, call, chip, run.graph, MappedFile::open(run.program).text(),
                                  run.program);
}

void print_run(const partition::PlannedStep& step, const chip::ChipDescription& chip,
               const partition::ExecutedStep& executed, int64_t sram_peak,
               const std::vector<partition::Distance>& distances) {
    fmt::print("graph       {}, {} operators\n", printable(step.graph.name), step.program.operators.size());
    fmt::print("chip        {}\n", printable(chip.chip.name));
    if (step.plan.total > 0) fmt::print("planned     {:.0f} cycles\n", step.plan.total);
    fmt::print("simulated   {:.0f} cycles\n", executed.cycles);
    fmt::print("SRAM        {} of {} bytes at the peak\n", sram_peak,
               chip.chip.sram_bytes + chip.reserved_bytes);
    for (const partition::Distance& each : distances)
        fmt::print("distance    {:.2g} of {}\n", each.distance, printable(each.name));
}

nlohmann::ordered_json run_json(const partition::PlannedStep& step, const partition::ExecutedStep& executed,
                                int64_t sram_peak, const std::vector<partition::Distance>& distances) {
    nlohmann::ordered_json by_name = nlohmann::ordered_json::object();
    for (const partition::Distance& each : distances) by_name[each.name] = each.distance;
    return {{"operators", step.program.operators.size()},
            {"planned", step.plan.total},
            {"simulated", executed.cycles},
            {"sram_peak", sram_peak},
            {"distances", std::move(by_name)}};
}

}  // namespace

int run_graph_on_chip(const GraphRun& run) {
    if (!run.out.empty()) check_output(run.out);
    const chip::ChipDescription chip = chip::read_chip_description(run.chip);
    const Graph graph = parse_graph(MappedFile::open(run.graph).text(), run.graph);
    verify(graph, run.graph);
    const GraphCall call =
        partition::drawn_call(graph, named_numbers("--set", run.symbols), run.seed, run.graph);
    const Graph apart = ops::decompose(graph);
    const partition::PlannedStep step =
        step_of(run, run.fuses ? rules::with_fused_maps(apart).graph : apart, call, chip);
    const partition::ExecutedStep executed = partition::execute_step(step, chip, call);
    const std::vector<partition::Distance> distances =
        partition::distances_of(step.graph, executed.executed.result, interpret_graph(apart, call));
    const std::vector<int64_t>& peaks = executed.executed.sram_peak;
    const int64_t sram_peak = *std::max_element(peaks.begin(), peaks.end());
    if (!run.out.empty()) write_file(run.out, partition::step_program_json(step, chip.chip));
    if (run.as_json)
        fmt::print("{}\n", run_json(step, executed, sram_peak, distances).dump(1));
    else
        print_run(step, chip, executed, sram_peak, distances);
    std::fflush(stdout);
    for (const partition::Distance& each : distances)
        if (!(each.distance <= each.allowed))
            throw Error(run.graph, each.name,
                        fmt::format("is {:.3g} of its range away from the interpreter's", each.distance));
    return 0;
}

}  // namespace tessera::cli
