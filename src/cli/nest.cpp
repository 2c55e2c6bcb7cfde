#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/nest_report.h"
#include "cli/number_checks.h"
#include "cli/verb.h"
#include "ir/facts/facts.h"
#include "nest/nests/nest_facts.h"
#include "support/mapped_file.h"

namespace tessera::cli {
namespace {

struct NestArguments {
    std::string file;
    bool as_json = false;
};

int run_nest(const NestArguments& options) {
    const nests::KernelFile file =
        nests::read_kernel_file(MappedFile::open(options.file).text(), options.file);
    const nests::Verdict verdict = nests::derive_facts(file);
    const auto* illegal = std::get_if<nests::Illegal>(&verdict);
    std::string shown;
    if (options.as_json)
        shown = facts::facts_text(nests::to_json(verdict));
    else if (!illegal)
        shown = nests::to_text(std::get<nests::NestFacts>(verdict));
    return report_nest("nest", options.file, shown, illegal);
}

}  // namespace

Verb nest_verb() {
    return {.name = "nest",
            .help = "what a nest of tiled operators executes, moves and holds",
            .examples = {"tessera nest gemm_chain.nest", "tessera nest gemm_chain.nest --json"},
            .declare = [](CLI::App& app, const Environment&) -> Job {
                const auto options = std::make_shared<NestArguments>();
                app.add_option("FILE", options->file, "operators and a nest of them (.nest)")
                    ->required()
                    ->check(not_empty());
                app.add_flag("--json", options->as_json, "the facts as JSON, those of an illegal nest, too");
                return [options] { return run_nest(*options); };
            }};
}

}  // namespace tessera::cli
