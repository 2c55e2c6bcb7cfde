#include <memory>

#include "compiler/build_artefact.h"
#include "compiler/packed_weights.h"
#include "compiler/timed.h"
#include "lowering/kernels/micro_kernels.h"
#include "support/error.h"

namespace tessera::compiler {

CompileReport retarget_artefact(const std::filesystem::path& path, const std::filesystem::path& out,
                                const CompileOptions& options) {
    TESSERA_CHECK(!options.context, "{}", path.string());
    check_outputs(out, options);
    CompileReport report;
    const auto artefact = std::make_shared<const runtime::Artefact>(
        timed("read-artefact", options, report, [&] { return runtime::Artefact::open(path); }));
    if (artefact->ranks_of_file() > 1)
        throw Error(
            path.string(), "",
            fmt::format("is for {} ranks, whose split belongs to a machine", artefact->ranks_of_file()),
            "compile the model again with --ranks and --machine");
    const Graph graph = parse_graph(artefact->graph(), artefact->where());
    verify(graph, artefact->where());
    const PackedWeights weights(
        artefact, graph, plan::parse_plan(artefact->plan(), artefact->where(), kernels::micro_kernels()));
    build_artefact({.graph = graph,
                    .weights = weights,
                    .text = artefact->manifest().text,
                    .tokenizer = artefact->tokenizer(),
                    .where = artefact->where(),
                    .warnings = artefact->manifest().warnings},
                   out, options, report);
    return report;
}

}  // namespace tessera::compiler
