#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/number_checks.h"
#include "cli/verb.h"
#include "ir/facts/facts.h"
#include "nest/nests/level_search.h"
#include "nest/nests/space_search.h"
#include "nest/nests/tiling_expressions.h"
#include "support/error.h"
#include "support/mapped_file.h"
#include "support/note.h"

namespace tessera::cli {
namespace {

struct ScheduleArguments {
    std::string file;
    bool as_json = false;
    bool counts_expressions = false;
    int64_t candidates = nests::LevelSearchOptions{}.candidates;
};

void show(const auto& found, bool as_json) {
    const std::string text = as_json ? facts::facts_text(nests::to_json(found)) : nests::to_text(found);
    std::fwrite(text.data(), 1, text.size(), stdout);
}

int run_levels(const ScheduleArguments& options, const nests::KernelFile& file) {
    if (options.counts_expressions)
        throw Error(options.file, "--space", "counts the expressions of a chain, and this is no .space file",
                    "", ErrorKind::kUsage);
    const nests::LevelSearchResult found =
        nests::search(nests::make_problem(file), {.candidates = options.candidates});
    show(found, options.as_json);
    if (found.status != nests::LevelSearchStatus::kOutOfBudget) return 0;
    note("tessera schedule: {}: {} candidates were walked, and there are more: --candidates N walks more",
         options.file, found.candidates);
    return 1;
}

int run_schedule(const ScheduleArguments& options) {
    const std::filesystem::path extension = std::filesystem::path(options.file).extension();
    if (extension != ".space" && extension != ".tiers")
        throw Error(
            options.file, "", "is named neither `.space` nor `.tiers`, and this verb reads nothing else",
            "a chain with `multiple`, `capacity` and `machine`, or a problem on a machine with memory "
            "levels; `tessera nest` reads a .nest, `tessera price` a .tier");
    const nests::KernelFile file =
        nests::read_kernel_file(MappedFile::open(options.file).text(), options.file);
    if (extension == ".tiers") return run_levels(options, file);
    const nests::Space space = nests::make_space(file);
    if (options.counts_expressions)
        show(nests::count_expressions(space), options.as_json);
    else
        show(nests::search(space), options.as_json);
    return 0;
}

}  // namespace

Verb schedule_verb() {
    return {.name = "schedule",
            .help = "the best nest of a chain on a machine, out of all of a space",
            .examples = {"tessera schedule chain.space", "tessera schedule chain.space --json",
                         "tessera schedule chain.space --space", "tessera schedule levels.tiers"},
            .declare = [](CLI::App& app, const Environment&) -> Job {
                const auto options = std::make_shared<ScheduleArguments>();
                app.add_option("FILE", options->file,
                               "a chain of operators and a machine (.space), or an open "
                               "problem on one with memory levels (.tiers)")
                    ->required()
                    ->check(not_empty());
                app.add_flag("--json", options->as_json, "the nest, its estimate and the counts as JSON");
                app.add_flag("--space", options->counts_expressions,
                             "count MCFuser's tiling expressions instead, and what its rules leave of them");
                app.add_option("--candidates", options->candidates,
                               "nests of a .tiers file that are walked at most")
                    ->check(positive_count())
                    ->capture_default_str();
                return [options] { return run_schedule(*options); };
            }};
}

}  // namespace tessera::cli
