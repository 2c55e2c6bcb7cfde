#include <algorithm>

#include <fmt/format.h>

#include "compiler/build_artefact.h"
#include "compiler/compiler.h"
#include "compiler/program_limits.h"
#include "compiler/timed.h"
#include "import/npy/npy_weights.h"
#include "support/error.h"
#include "support/mapped_file.h"
#include "support/printable.h"

namespace tessera::compiler {
namespace {

/// Errors of the passes speak of operators; these are of the program, whose author knows no passes.
Compiled compiled(const Graph& graph, const std::string& where, const CompileOptions& options,
                  CompileReport& report) {
    try {
        return compile_graph(graph, options, report);
    } catch (const Error& error) {
        const bool is_of_plan = error.where.starts_with(kDefaultPlan);
        const bool is_of_node = std::ranges::any_of(
            graph.blocks, [&](const Block& block) { return block.find(error.where) != nullptr; });
        if (is_of_plan) throw Error(where, error.entity, error.problem, error.advice, error.kind);
        if (!is_of_node) throw;
        throw Error(fmt::format("{}: {}", where, error.where), error.entity, error.problem, error.advice,
                    error.kind);
    }
}

}  // namespace

CompileReport compile_program(const std::filesystem::path& file,
                              const std::map<std::string, std::filesystem::path>& constants,
                              const std::filesystem::path& out, const CompileOptions& options) {
    TESSERA_CHECK(!options.context && !options.cache_type && !options.quantisation && !options.embeddings,
                  "{}", file.string());
    check_outputs(out, options);
    std::error_code missing;
    if (std::filesystem::equivalent(file, out, missing))
        throw Error(out.string(), "", "is the program itself, which the artefact would replace",
                    "write the artefact to another file");
    CompileReport report;
    const std::string where = file.string();
    const Graph graph = timed("read-program", options, report, [&] {
        const MappedFile text = MappedFile::open(file);
        Graph read = parse_graph(text.text(), where);
        verify(read, where);
        expect_program(read, where);
        read.name = valid_utf8(read.name);
        return read;
    });
    const import::NpyWeights weights(graph, constants, where);
    write_model({.graph = graph,
                 .weights = weights,
                 .text = std::nullopt,
                 .tokenizer = {},
                 .where = where,
                 .warnings = {}},
                compiled(graph, where, options, report), out, options, report);
    return report;
}

}  // namespace tessera::compiler
