#include "cli/chip_workload.h"

#include <cstdio>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "chip/partition/model_workload.h"
#include "cli/named_values.h"
#include "cli/number_checks.h"
#include "ir/graph.h"
#include "support/error.h"
#include "support/mapped_file.h"
#include "support/printable.h"

namespace tessera::cli {
namespace {

/// A gap that no architect asks to be smaller.
constexpr double kSmallGap = 1e-3;
/// A few seconds for a model of 80 layers.
constexpr size_t kBoundWork = 1'000'000;

partition::Phase stated_phase(const std::string& text) {
    if (const auto phase = partition::phase_of(text)) return *phase;
    throw Error("", "--phase", fmt::format("is {}, expected decode, prefill or training", printable(text)),
                {}, ErrorKind::kUsage);
}

partition::Workload workload_of(const ChipWorkloadArguments& arguments) {
    if (!arguments.model.ends_with(".ir")) {
        if (!arguments.symbols.empty())
            throw Error("", "--set", "is for graphs (.ir): a model has --batch and --sequence", {},
                        ErrorKind::kUsage);
        partition::StepShape shape{.sequence = arguments.sequence};
        shape.batch = arguments.batch.value_or(shape.batch);
        if (arguments.phase) shape.phase = stated_phase(*arguments.phase);
        return partition::model_workload(arguments.model, shape);
    }
    if (arguments.batch || arguments.sequence || arguments.phase)
        throw Error("",
                    arguments.batch      ? "--batch"
                    : arguments.sequence ? "--sequence"
                                         : "--phase",
                    "is for models: a graph (.ir) has symbols, and --set gives them values", {},
                    ErrorKind::kUsage);
    const Graph graph = parse_graph(MappedFile::open(arguments.model).text(), arguments.model);
    verify(graph, arguments.model);
    return partition::graph_workload(graph, named_numbers("--set", arguments.symbols), arguments.model);
}

}  // namespace

void add_chip_workload(CLI::App& app, ChipWorkloadArguments& arguments) {
    app.add_option("MODEL", arguments.model,
                   "a HuggingFace config.json or its folder (weights are not needed), or a graph (.ir)")
        ->required()
        ->check(not_empty());
    app.add_option("--chip", arguments.chip, "the chip as TOML (machines/chips)")
        ->required()
        ->check(not_empty())
        ->type_name("FILE");
    app.add_option("--phase", arguments.phase,
                   "of a decoder: decode, prefill, or training, the forward pass of it; decode")
        ->check(not_empty())
        ->type_name("NAME");
    app.add_option("--batch", arguments.batch, "sequences, or images; 32")
        ->check(positive_count())
        ->type_name("N");
    app.add_option("--sequence", arguments.sequence, "positions of each sequence, a multiple of 16; 2048")
        ->check(positive_count())
        ->type_name("N");
    add_named_numbers(app, "--set", arguments.symbols, "the value of a symbol of a graph");
    app.add_option("--work", arguments.work, "executes that the search runs, at most")
        ->check(count_or_zero())
        ->type_name("N");
    app.add_option("--seed", arguments.seed, "of the search")->check(count_or_zero())->type_name("N");
}

ChipWorkload read_chip_workload(const ChipWorkloadArguments& arguments, partition::RowChoice choice) {
    ChipWorkload result{.chip = chip::read_chip_description(arguments.chip),
                        .workload = workload_of(arguments),
                        .tables = {}};
    for (const std::string& remark : result.workload.remarks)
        fmt::print(stderr, "{}: {}\n", arguments.model, remark);
    result.tables = partition::chip_tables(result.workload, result.chip, arguments.chip, choice);
    return result;
}

chip::PlanResult search_chip_workload(const ChipWorkload& workload, const ChipWorkloadArguments& arguments,
                                      bool searches, const std::function<bool()>& must_stop) {
    return chip::plan_schedule(workload.tables.problem, {.work = searches ? arguments.work : 0,
                                                         .seed = arguments.seed,
                                                         .small_gap = kSmallGap,
                                                         .bound_work = kBoundWork,
                                                         .must_stop = must_stop});
}

}  // namespace tessera::cli
