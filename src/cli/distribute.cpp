#include "distribution/distribute.h"

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "cli/first_use.h"
#include "cli/number_checks.h"
#include "cli/verb.h"
#include "distribution/read_problem.h"
#include "distribution/report.h"
#include "distribution/spmd/distribute_model.h"
#include "distribution/spmd/model_report.h"
#include "import/import_model.h"
#include "import/import_shapes.h"
#include "ir/ops/decompose.h"
#include "support/error.h"
#include "support/mapped_file.h"

namespace tessera::cli {
namespace {

struct DistributeArguments {
    std::string file;
    std::string machine;
    std::string architecture;
    std::optional<int64_t> nodes, memory, context;
    bool compares = false;
    bool as_json = false;
};

constexpr int64_t kContext = 4096;  // of models, unless it is given

Graph graph_of(const DistributeArguments& arguments, int64_t context) {
    const std::filesystem::path path = arguments.file;
    if (path.extension() == ".ir") {
        Graph graph = parse_graph(MappedFile::open(path).text(), path.string());
        verify(graph, path.string());
        return ops::decompose(graph);
    }
    const import::Architectures known = architectures_of(arguments.architecture);
    if (path.extension() == ".gguf")
        return ops::decompose(import::import_model(path, {.context = context, .architectures = known}).graph);
    const import::ImportedShapes shapes = import::import_shapes(path, {.context = context}, known);
    for (const std::string& warning : shapes.warnings)
        fmt::print(stderr, "{}: {}\n", arguments.file, warning);
    return ops::decompose(shapes.graph);
}

void print_text(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
}

int distribute_model(const DistributeArguments& arguments, const distribution::DistributeOptions& search) {
    spmd::Cluster cluster =
        spmd::parse_cluster(MappedFile::open(arguments.machine).text(), arguments.machine);
    if (arguments.memory) cluster.memory = arguments.memory;
    const int64_t context = arguments.context.value_or(kContext);
    const Graph graph = graph_of(arguments, context);
    spmd::ModelOptions options;
    if (graph.symbol("P")) options.held["P"] = (context + 15) / 16;
    const spmd::ModelSearch models(graph, cluster, options);
    spmd::ModelReport report{.cluster = cluster, .found = models.best(search), .by_hand = {}};
    if (arguments.compares) report.by_hand = models.best(search, spmd::megatron(graph, cluster));
    print_text(arguments.as_json ? json_text(report) : text(report));
    return 0;
}

int run_distribute(const DistributeArguments& arguments) {
    distribution::DistributeOptions options;
    if (arguments.nodes) options.nodes = *arguments.nodes;
    const bool is_problem = std::filesystem::path(arguments.file).extension() == ".dist";
    if (is_problem != arguments.machine.empty())
        throw Error("", "--machine",
                    is_problem ? "is for models: a .dist file has the devices in it"
                               : "is missing: a model needs the devices",
                    is_problem ? "" : "such as machines/clusters/nodes.toml", ErrorKind::kUsage);
    if (!is_problem) return distribute_model(arguments, options);
    if (arguments.memory || arguments.context || arguments.compares)
        throw Error("",
                    arguments.memory    ? "--memory"
                    : arguments.context ? "--context"
                                        : "--compare",
                    "is for models, not for .dist files", {}, ErrorKind::kUsage);
    const distribution::Problem problem =
        distribution::read_problem(MappedFile::open(arguments.file).text(), arguments.file);
    const distribution::Distribution found = distribution::distribute(problem, options);
    print_text(arguments.as_json ? distribution::json_text(problem, found)
                                 : distribution::report(problem, found));
    return 0;
}

}  // namespace

Verb distribute_verb() {
    return {
        .name = "distribute",
        .help = "split a graph or a model over nested devices, exactly",
        .examples = {"tessera distribute layers.dist", "tessera distribute layers.dist --json",
                     "tessera distribute config.json --machine machines/clusters/nodes.toml --compare"},
        .declare = [](CLI::App& app, const Environment&) -> Job {
            const auto arguments = std::make_shared<DistributeArguments>();
            app.add_option(
                   "FILE", arguments->file,
                   "operators, devices, memory, inputs and outputs (.dist); or a model: a HuggingFace "
                   "config.json or its folder (weights are not needed), a GGUF file, or a graph (.ir)")
                ->required()
                ->check(not_empty());
            app.add_option("--machine", arguments->machine,
                           "the devices of a model as TOML (machines/clusters)")
                ->check(not_empty())
                ->type_name("FILE");
            app.add_option("--memory", arguments->memory, "bytes of one memory, instead of the description's")
                ->check(positive_count())
                ->type_name("BYTES");
            app.add_option("--context", arguments->context,
                           "cached positions of a model whose memory counts; 4096")
                ->check(positive_count())
                ->type_name("N");
            app.add_option("--nodes", arguments->nodes,
                           "beginnings of plans to look at, at most; the same number gives the same answer")
                ->check(positive_count())
                ->type_name("N");
            app.add_flag("--compare", arguments->compares,
                         "beside it the columns and rows that Megatron-LM splits by hand");
            add_architecture_flag(app, arguments->architecture);
            app.add_flag("--json", arguments->as_json, "the plan as JSON");
            return [arguments] { return run_distribute(*arguments); };
        }};
}

}  // namespace tessera::cli
