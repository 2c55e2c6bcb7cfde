#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/number_checks.h"
#include "cli/verb.h"
#include "facts/facts.h"
#include "nests/space_search.h"
#include "nests/tiling_expressions.h"
#include "support/error.h"
#include "support/mapped_file.h"

namespace tessera::cli {
namespace {

struct ScheduleArguments {
    std::string file;
    bool as_json = false;
    bool counts_expressions = false;
};

int run_schedule(const ScheduleArguments& options) {
    if (std::filesystem::path(options.file).extension() != ".space")
        throw Error(options.file, "", "is not named `.space`, and this verb reads nothing else",
                    "a chain with `multiple`, `capacity` and `machine`; `tessera nest` reads a .nest");
    const nests::Space space =
        nests::make_space(nests::read_kernel_file(MappedFile::open(options.file).text(), options.file));
    const auto shown = [&](const auto& found) {
        return options.as_json ? facts::facts_text(nests::to_json(found)) : nests::to_text(found);
    };
    const std::string text =
        options.counts_expressions ? shown(nests::count_expressions(space)) : shown(nests::search(space));
    std::fwrite(text.data(), 1, text.size(), stdout);
    return 0;
}

}  // namespace

Verb schedule_verb() {
    return {.name = "schedule",
            .help = "the best nest of a chain on a machine, out of all of a space",
            .examples = {"tessera schedule chain.space", "tessera schedule chain.space --json",
                         "tessera schedule chain.space --space"},
            .declare = [](CLI::App& app, const Environment&) -> Job {
                const auto options = std::make_shared<ScheduleArguments>();
                app.add_option("FILE", options->file, "a chain of operators and a machine (.space)")
                    ->required()
                    ->check(not_empty());
                app.add_flag("--json", options->as_json, "the nest, its estimate and the counts as JSON");
                app.add_flag("--space", options->counts_expressions,
                             "count MCFuser's tiling expressions instead, and what its rules leave of them");
                return [options] { return run_schedule(*options); };
            }};
}

}  // namespace tessera::cli
