#include "search/extraction/extract.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/interrupt.h"
#include "cli/number_checks.h"
#include "cli/verb.h"
#include "search/extraction/read_problem.h"
#include "support/atomic_file.h"
#include "support/error.h"
#include "support/mapped_file.h"
#include "support/output_place.h"
#include "support/progress.h"

namespace tessera::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ExtractArguments {
    std::string file;
    std::string out;
    int64_t search_effort = extraction::Options{}.conflicts;
    std::optional<double> seconds;
    bool as_json = false;
};

struct Run {
    extraction::NamedProblem named;
    extraction::Result result;
    double seconds = 0;
};

bool has_choice(const Run& run) {
    return !run.result.choice.empty();
}

Json summary(const Run& run) {
    const extraction::Result& r = run.result;
    Json json = {{"status", name(r.status)}};
    if (has_choice(run)) json["cost"] = r.cost;
    if (r.status != extraction::Status::kInfeasible) json["bound"] = r.bound;
    if (has_choice(run)) json["gap"] = r.gap();
    json["rounding"] = r.rounding;
    json["conflicts"] = r.conflicts;
    json["stopped"] = r.was_stopped;
    json["seconds"] = run.seconds;
    json["nodes"] = run.named.problem.nodes.size();
    json["classes"] = run.named.problem.classes;
    return json;
}

void print_text(const Run& run) {
    const extraction::Result& r = run.result;
    fmt::print("status      {}{}\n", name(r.status),
               r.was_stopped ? ", stopped before the end of its budget" : "");
    if (has_choice(run)) fmt::print("cost        {}\n", r.cost);
    if (r.status != extraction::Status::kInfeasible) fmt::print("bound       {}\n", r.bound);
    if (has_choice(run)) fmt::print("gap         {:.3g} %\n", 100 * r.gap());
    if (r.rounding > 0) fmt::print("rounding    {:.3g} at most, of the cost and of the bound\n", r.rounding);
    fmt::print("work        {} conflicts, {:.2f} s\n", r.conflicts, run.seconds);
    fmt::print("e-graph     {} nodes in {} classes\n", run.named.problem.nodes.size(),
               run.named.problem.classes);
}

/// Without time and work, so that equal results are equal files.
std::string choices_text(const Run& run) {
    Json choices = Json::object();
    for (size_t i = 0; i < run.result.choice.size(); ++i)
        if (const int node = run.result.choice[i]; node >= 0)
            choices[run.named.class_names[i]] = run.named.node_names[static_cast<size_t>(node)];
    const Json json = {{"status", name(run.result.status)},
                       {"cost", run.result.cost},
                       {"bound", run.result.bound},
                       {"choices", std::move(choices)}};
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Run extract_file(const ExtractArguments& options, const Environment& environment) {
    const auto begin = std::chrono::steady_clock::now();
    Run run{.named = extraction::read_problem(MappedFile::open(options.file).text(), options.file)};
    Progress progress(environment.terminal, "extracting", options.search_effort);
    const InterruptWatch interrupt;
    run.result = extraction::extract(run.named.problem,
                                     {.conflicts = options.search_effort,
                                      .seconds = options.seconds,
                                      .on_progress = [&](const extraction::Progress& now) {
                                          progress.update(std::min(now.conflicts, options.search_effort));
                                          return interrupt.interrupted();
                                      }});
    run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const auto wrong = violations(run.named.problem, run.result.choice);
    TESSERA_CHECK(!has_choice(run) || wrong.empty(), "{}", wrong.front());
    return run;
}

Job declare_extract(CLI::App& app, const Environment& environment) {
    const auto options = std::make_shared<ExtractArguments>();
    app.add_option("FILE", options->file, "e-graph as JSON, in the format of the extraction-gym project")
        ->required()
        ->check(not_empty());
    app.add_option("--search-effort", options->search_effort,
                   "conflicts of the SAT solver; the same number gives the same choice; 0: greedy only")
        ->check(count_or_zero())
        ->capture_default_str()
        ->type_name("N");
    app.add_option("--time", options->seconds, "seconds after which the best choice so far is taken")
        ->check(positive_number())
        ->type_name("S");
    app.add_flag("--json", options->as_json, "the result as JSON");
    app.add_option("--out", options->out, "writes the chosen node of each class as JSON")
        ->check(not_empty())
        ->type_name("FILE");
    return [options, &environment] {
        if (!options->out.empty()) check_output(options->out);
        const Run run = extract_file(*options, environment);
        if (options->as_json)
            fmt::print("{}\n", summary(run).dump(1));
        else
            print_text(run);
        if (!has_choice(run)) return 1;
        if (!options->out.empty()) write_file(options->out, choices_text(run));
        return 0;
    };
}

}  // namespace

Verb extract_verb() {
    return {.name = "extract",
            .help = "choose the cheapest nodes of a serialised e-graph, exactly",
            .examples = {"tessera extract egraph.json",
                         "tessera extract egraph.json --time 60 --json --out choices.json",
                         "tessera extract egraph.json --search-effort 0"},
            .declare = declare_extract};
}

}  // namespace tessera::cli
