#include <cstdio>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/number_checks.h"
#include "cli/verb.h"
#include "facts/facts.h"
#include "nests/nest_facts.h"
#include "support/mapped_file.h"
#include "support/note.h"

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
    if (options.as_json || !illegal) {
        const std::string text = options.as_json ? facts::facts_text(nests::to_json(verdict))
                                                 : nests::to_text(std::get<nests::NestFacts>(verdict));
        std::fwrite(text.data(), 1, text.size(), stdout);
    }
    if (!illegal) return 0;
    note("tessera nest: {}: the nest is illegal ({}): {}", options.file, name(illegal->kind),
         illegal->reason);
    return 1;
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
