#include <filesystem>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/nest_report.h"
#include "cli/number_checks.h"
#include "cli/verb.h"
#include "facts/facts.h"
#include "nests/level_facts.h"
#include "support/error.h"
#include "support/mapped_file.h"

namespace tessera::cli {
namespace {

struct PriceArguments {
    std::string file;
    bool as_json = false;
};

int run_price(const PriceArguments& options) {
    if (std::filesystem::path(options.file).extension() != ".tier")
        throw Error(
            options.file, "", "is not named `.tier`, and this verb reads nothing else",
            "a nest on a machine with memory levels; `tessera nest` reads a .nest, `tessera schedule` "
            "a .tiers");
    const nests::KernelFile file =
        nests::read_kernel_file(MappedFile::open(options.file).text(), options.file);
    const nests::LevelVerdict verdict = nests::derive_level_facts(file);
    const auto* illegal = std::get_if<nests::Illegal>(&verdict);
    std::string shown;
    if (options.as_json)
        shown = facts::facts_text(nests::to_json(verdict, *file.levels));
    else if (!illegal)
        shown = nests::to_text(std::get<nests::LevelFacts>(verdict), *file.levels);
    return report_nest("price", options.file, shown, illegal);
}

}  // namespace

Verb price_verb() {
    return {.name = "price",
            .help = "what a nest moves between memory levels, holds in them, and costs",
            .examples = {"tessera price chain.tier", "tessera price chain.tier --json"},
            .declare = [](CLI::App& app, const Environment&) -> Job {
                const auto options = std::make_shared<PriceArguments>();
                app.add_option(
                       "FILE", options->file,
                       "operators, a machine with levels, and a nest with tensors placed in them (.tier)")
                    ->required()
                    ->check(not_empty());
                app.add_flag("--json", options->as_json, "the facts as JSON, those of an illegal nest, too");
                return [options] { return run_price(*options); };
            }};
}

}  // namespace tessera::cli
