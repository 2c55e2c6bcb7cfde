#include "cli/chip_workload.h"

#include <cstdio>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "chip/partition/model_workload.h"
#include "cli/named_values.h"
#include "cli/number_checks.h"
#include "import/onnx/import_onnx.h"
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

/// The options of a file that --set, --dim, or --batch and the like are not for.
void refuse_others(const ChipWorkloadArguments& arguments) {
    const bool is_ir = arguments.model.ends_with(".ir"), is_onnx = arguments.model.ends_with(".onnx");
    const auto refuse = [](const char* option, const char* problem) {
        throw Error("", option, problem, {}, ErrorKind::kUsage);
    };
    if (!is_ir && !arguments.symbols.empty())
        refuse("--set", is_onnx ? "is for graphs (.ir): ONNX has --dim"
                                : "is for graphs (.ir): a model has --batch and --sequence");
    if (!is_onnx && !arguments.dims.empty())
        refuse("--dim", is_ir ? "is for ONNX models (.onnx): a graph has --set"
                              : "is for ONNX models (.onnx): a model has --batch and --sequence");
    if (!is_ir && !is_onnx) return;
    for (const auto& [option, is_given] : {std::pair("--batch", arguments.batch.has_value()),
                                           std::pair("--sequence", arguments.sequence.has_value()),
                                           std::pair("--phase", arguments.phase.has_value())})
        if (is_given)
            refuse(option, is_ir ? "is for models: a graph (.ir) has symbols, and --set gives them values"
                                 : "is for models: ONNX has extents, and --dim gives symbolic ones values");
}

/// ONNX with all extents known.
partition::Workload onnx_workload(const ChipWorkloadArguments& arguments, const partition::GraphPass& pass) {
    import::onnx::ImportOptions options;
    for (const auto& [name, value] : named_numbers("--dim", arguments.dims))
        options.dims[name] = {value, value};
    const import::onnx::ImportedModel model = import::onnx::import_supported_onnx(arguments.model, options);
    verify(model.graph, arguments.model);
    return partition::graph_workload(model.graph, {}, arguments.model, {}, pass);
}

partition::Workload workload_of(const ChipWorkloadArguments& arguments, const partition::GraphPass& pass) {
    refuse_others(arguments);
    if (arguments.model.ends_with(".onnx")) return onnx_workload(arguments, pass);
    if (arguments.model.ends_with(".ir")) {
        const Graph graph = parse_graph(MappedFile::open(arguments.model).text(), arguments.model);
        verify(graph, arguments.model);
        return partition::graph_workload(graph, named_numbers("--set", arguments.symbols), arguments.model,
                                         {}, pass);
    }
    partition::StepShape shape{.sequence = arguments.sequence};
    shape.batch = arguments.batch.value_or(shape.batch);
    if (arguments.phase) shape.phase = stated_phase(*arguments.phase);
    return partition::model_workload(arguments.model, shape, pass);
}

}  // namespace

void add_chip_workload(CLI::App& app, ChipWorkloadArguments& arguments) {
    app.add_option("MODEL", arguments.model,
                   "a HuggingFace config.json or its folder (weights are not needed), a graph (.ir), or an "
                   "ONNX model (.onnx)")
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
    add_named_numbers(app, "--dim", arguments.dims, "the value of a symbolic extent of an ONNX model");
    app.add_flag(
        "--fuse", arguments.fuses,
        "element by element operators become a part of the only one that they read, or that reads them");
    app.add_option("--work", arguments.work, "executes that the search runs, at most")
        ->check(count_or_zero())
        ->type_name("N");
    app.add_option("--seed", arguments.seed, "of the search")->check(count_or_zero())->type_name("N");
}

ChipWorkload read_chip_workload(const ChipWorkloadArguments& arguments, Progress& progress,
                                partition::RowChoice choice) {
    ChipWorkload result{
        .chip = chip::read_chip_description(arguments.chip), .workload = {}, .tables = {}, .fusion = {}};
    partition::GraphPass fuse;
    if (arguments.fuses)
        fuse = [&](const Graph& graph) {
            result.fusion = rules::with_fused_maps(graph);
            verify(result.fusion.graph, arguments.model);
            return result.fusion.graph;
        };
    result.workload = workload_of(arguments, fuse);
    for (const std::string& remark : result.workload.remarks)
        fmt::print(stderr, "{}: {}\n", arguments.model, remark);
    result.tables =
        partition::chip_tables(result.workload, result.chip, arguments.chip, choice, [&](size_t done) {
            progress.rename(fmt::format("planning {} operators", result.workload.operators.size()));
            progress.update(static_cast<int64_t>(done));
        });
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
