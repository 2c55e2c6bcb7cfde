#include "distribution/distribute.h"

#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "cli/number_checks.h"
#include "cli/verb.h"
#include "distribution/read_problem.h"
#include "distribution/report.h"
#include "support/mapped_file.h"

namespace tessera::cli {
namespace {

struct DistributeArguments {
    std::string file;
    std::optional<int64_t> nodes;
    bool as_json = false;
};

int run_distribute(const DistributeArguments& arguments) {
    const distribution::Problem problem =
        distribution::read_problem(MappedFile::open(arguments.file).text(), arguments.file);
    distribution::DistributeOptions options;
    if (arguments.nodes) options.nodes = *arguments.nodes;
    const distribution::Distribution found = distribution::distribute(problem, options);
    const std::string text =
        arguments.as_json ? distribution::json_text(problem, found) : distribution::report(problem, found);
    std::fwrite(text.data(), 1, text.size(), stdout);
    return 0;
}

}  // namespace

Verb distribute_verb() {
    return {
        .name = "distribute",
        .help = "split the operators of a graph over nested devices, exactly",
        .examples = {"tessera distribute layers.dist", "tessera distribute layers.dist --json"},
        .declare = [](CLI::App& app, const Environment&) -> Job {
            const auto arguments = std::make_shared<DistributeArguments>();
            app.add_option("FILE", arguments->file, "operators, devices, memory, inputs and outputs (.dist)")
                ->required()
                ->check(not_empty());
            app.add_option("--nodes", arguments->nodes,
                           "beginnings of plans to look at, at most; the same number gives the same answer")
                ->check(positive_count())
                ->type_name("N");
            app.add_flag("--json", arguments->as_json, "the plan as JSON");
            return [arguments] { return run_distribute(*arguments); };
        }};
}

}  // namespace tessera::cli
