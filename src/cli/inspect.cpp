#include "tessera/inspect.h"

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/kernel_account.h"
#include "cli/number_checks.h"
#include "cli/plan_costs.h"
#include "cli/rank_measurements.h"
#include "cli/search_again.h"
#include "cli/verb.h"
#include "compiler/api/artefact_machine.h"
#include "compiler/operator_work.h"
#include "compiler/programs/bind_symbols.h"
#include "distribution/spmd/model_picture.h"
#include "distribution/spmd/model_report.h"
#include "ir/graph.h"
#include "machine/host_memory.h"
#include "run/llm/memory_need.h"
#include "run/llm/stated_sampling.h"
#include "run/runtime/artefact.h"
#include "run/runtime/ranks_file.h"
#include "search/layouts/search_page.h"
#include "support/atomic_file.h"
#include "support/error.h"
#include "support/output_place.h"
#include "support/printable.h"
#include "tessera/compile.h"

namespace tessera::cli {
namespace {

struct InspectArguments {
    std::string artefact;
    std::string machine;
    std::string egraph;
    int64_t search_effort = 1;
    bool costs = false;
    bool json = false;
    bool plan = false, memory = false, operators = false, graph = false, manifest = false;
    bool search = false;
    bool distribution = false;
    bool measure = false;
    std::string svg;
};

constexpr double kMiB = 1024.0 * 1024.0;

int print_distribution(const InspectArguments& options, const Environment& environment) {
    if (!options.svg.empty()) check_output(options.svg);
    std::string account = runtime::read_ranks_account(options.artefact);
    if (options.measure) account = with_measured_boxes(account, options.artefact, environment);
    if (account.empty()) return 0;  // the first rank tells
    if (!options.svg.empty()) write_file(options.svg, spmd::groups_svg(account, options.artefact));
    const std::string text = options.json ? account : spmd::groups_text(account, options.artefact);
    std::fwrite(text.data(), 1, text.size(), stdout);
    return 0;
}

/// The arrays that a call of a program takes and gives.
void print_interface(const runtime::Manifest& m) {
    for (const DimSymbol& symbol : m.symbols)
        fmt::print("symbol      {} in {}..{}{}\n", symbol.name, symbol.low, symbol.high,
                   symbol.multiple_of == 1 ? "" : fmt::format(" multiple of {}", symbol.multiple_of));
    const auto print_array = [](std::string_view kind, const auto& tensor) {
        fmt::print("{:<12}{}: {}{}\n", kind, tensor.name, name(tensor.element),
                   programs::shape_text(programs::array_shape(tensor)));
    };
    for (const runtime::Manifest::Tensor& input : m.inputs) print_array("input", input);
    for (const runtime::Manifest::State& state : m.states) print_array("state", state);
    for (const runtime::Manifest::Tensor& output : m.outputs) print_array("output", output);
}

/// The sampling that `run`, `chat` and `serve` use by default.
void print_sampling(const runtime::Artefact& artefact) {
    const llm::StatedSampling stated = llm::read_stated_sampling(artefact.tokenizer(), artefact.where());
    if (stated.choices != SamplingChoices{})
        fmt::print("sampling    {} ({})\n", llm::describe(llm::decided(stated, {})), stated.where);
    for (const std::string& setting : stated.not_followed)
        fmt::print("sampling    {}: {}, which is not followed\n", stated.where, printable(setting));
}

void print_overview(const runtime::Artefact& artefact) {
    const runtime::Manifest& m = artefact.manifest();
    fmt::print("{}{}\nmachine     {} ({})\nneeds       {} {}\ncompiled by tessera {}\n",
               m.text ? "model       " : "program     ", printable(m.model), printable(m.machine),
               m.machine_hash, m.architecture, fmt::join(m.instruction_sets, " "), m.tessera_version);
    if (m.text)
        fmt::print("text        vocabulary {}, context {} tokens\nrounding    policy {}, cache {}\n",
                   m.text->vocabulary, m.text->context, m.text->policy, llm::cache_type(m));
    else
        print_interface(m);
    if (m.text) print_sampling(artefact);
    for (const std::string& warning : m.warnings) fmt::print("warning     {}\n", warning);
    for (const std::string& search : m.cut_short) fmt::print("cut short   {}\n", search);
    if (!m.without.empty()) fmt::print("without     {}\n", fmt::join(m.without, ", "));
    if (m.regions) fmt::print("regions     of up to {} operators\n", *m.regions);
    for (const runtime::Manifest::Specialisation& s : m.specialisations) {
        fmt::print("code        {}:", s.name);
        for (const auto& [symbol, bounds] : s.bounds) {
            if (bounds.low == bounds.high) {
                fmt::print(" {}={}", symbol, bounds.low);
            } else {
                fmt::print(" {}={}..{}", symbol, bounds.low, bounds.high);
            }
        }
        fmt::print("\n");
    }
}

void print_memory(const runtime::Artefact& artefact) {
    const runtime::Manifest& m = artefact.manifest();
    fmt::print("\nconstants   {:10.2f} MiB, mapped from the artefact\n",
               static_cast<double>(m.constants_bytes) / kMiB);
    for (const runtime::Manifest::Constant& c : m.constants) {
        fmt::print("  {:<36} {} x {:>12} bytes at {:>12}  {} [{}], {}\n", c.name, c.repeat, c.bytes, c.offset,
                   name(c.element), fmt::join(c.shape, ", "), c.layout);
    }
    if (m.text) {
        const llm::MemoryNeed need = llm::memory_need(artefact, {});
        fmt::print("states      {} bytes for each token, {:.2f} MiB for the whole context\n",
                   need.cache_per_token, static_cast<double>(need.cache) / kMiB);
        fmt::print("running     {}\n", llm::describe(m, need, machine::host_memory_bytes()));
    }
    for (const runtime::Manifest::Specialisation& s : m.specialisations) {
        fmt::print("arena       {:10.2f} MiB for {}\n", static_cast<double>(s.arena_bytes) / kMiB, s.name);
    }
}

void print_operators(const runtime::Artefact& artefact) {
    constexpr auto kRow = "  {:<40} {:>6} {:>16} {:>12} {:>16}\n";
    for (const compiler::WorkAtPoint& at :
         compiler::operator_work(parse_graph(artefact.graph(), artefact.where()))) {
        fmt::print("\noperators at {}\n", at.point);
        fmt::print(fmt::runtime(kRow), "operator", "times", "flops", "special", "bytes");
        for (const compiler::OperatorWork& one : at.operators)
            fmt::print(fmt::runtime(kRow), one.name, one.repeat, one.flops, one.special, one.bytes);
        const compiler::OperatorWork total = at.total();
        fmt::print(fmt::runtime(kRow), "all", "", total.flops, total.special, total.bytes);
    }
}

/// Checks the name before any search starts.
CLI::Validator page_extension() {
    return CLI::Validator(
        [](const std::string& file) {
            const auto extension = std::filesystem::path(file).extension();
            return extension == ".html" || extension == ".dot" ? std::string()
                                                               : file + " ends neither in .html nor in .dot";
        },
        "", "page");
}

void write_egraph(const runtime::Artefact& artefact, const InspectArguments& options,
                  const Environment& environment) {
    const compiler::LayoutSearch again =
        search_layouts_again(artefact, options.machine, "--egraph", options.search_effort, environment);
    const bool is_dot = std::filesystem::path(options.egraph).extension() == ".dot";
    write_file(options.egraph, is_dot ? layouts::dot_text(again.search)
                                      : layouts::html_page(again.graph, again.initial, again.search));
}

int print_search(const InspectArguments& options, const Environment& environment) {
    const runtime::Artefact artefact = runtime::Artefact::open(options.artefact);
    const compiler::KernelSearch again =
        search_kernels_again(artefact, options.machine, "--search", options.search_effort, environment);
    const std::string text = options.json ? as_json(again).dump(2) + "\n" : in_words(again);
    std::fwrite(text.data(), 1, text.size(), stdout);
    return 0;
}

Job declare_inspect(CLI::App& app, const Environment& environment) {
    const auto options = std::make_shared<InspectArguments>();
    app.add_option("OUT.tsr", options->artefact, "artefact of `tessera compile`")
        ->required()
        ->check(not_empty());
    CLI::Option* plan =
        app.add_flag("--plan", options->plan, "the plan, as --plan of `tessera compile` takes it");
    app.add_flag("--costs", options->costs,
                 "with --plan: comments on the microseconds that each kernel is predicted to take at the "
                 "points of the graph; with --json: the same in seconds");
    app.add_option("--machine", options->machine,
                   "with --costs, --egraph and --search: the machine that they are for; without it "
                   "the one that the artefact was compiled for, if that is this one")
        ->check(not_empty())
        ->type_name("FILE");
    app.add_option("--egraph", options->egraph,
                   "repeats the search for layouts and writes all forms of all values, with what they cost "
                   "and the rules that made them: a page to search (.html), or Graphviz text (.dot)")
        ->type_name("FILE")
        ->check(not_empty())
        ->check(page_extension());
    app.add_option("--search-effort", options->search_effort,
                   "with --egraph and --search: as it was for `tessera compile`")
        ->type_name("N")
        ->capture_default_str()
        ->check(whole_number(0, kMostSearchEffort));
    app.add_flag("--json", options->json,
                 "manifest, plan and operators as one JSON document (docs/python.md)")
        ->excludes(plan);
    app.add_flag("--search", options->search,
                 "repeats the search for kernels and shows its account: for each specialisation and block "
                 "the candidates, the proof or the gap, and for each kernel of several operators what it "
                 "saves and the next best nest; with --json as JSON")
        ->excludes(plan);
    app.add_flag("--memory", options->memory, "the memory plan: constants, states, arena");
    app.add_flag("--operators", options->operators,
                 "operators with flops and bytes at the points of the graph");
    app.add_flag("--graph", options->graph, "the graph, as `tessera opt` takes it");
    app.add_flag("--manifest", options->manifest, "the manifest as JSON");
    app.add_flag(
        "--distribution", options->distribution,
        "of an artefact for several ranks: how each tensor lies, every box, and the memory of a rank; "
        "with --json as JSON");
    app.add_flag(
           "--measure", options->measure,
           "with --distribution: also time the exchange of every box between as many ranks, threads of this "
           "process, or those that mpirun starts")
        ->needs("--distribution");
    app.add_option("--svg", options->svg, "with --distribution: draw the groups into this file")
        ->needs("--distribution")
        ->check(not_empty())
        ->type_name("FILE");
    return [options, &environment] {
        if (options->distribution) {
            return print_distribution(*options, environment);
        }
        if (options->search) return print_search(*options, environment);
        if (options->costs && !options->plan && !options->json)
            throw Error("", "--costs", "needs --plan or --json", "", ErrorKind::kUsage);
        if (!options->egraph.empty()) check_output(options->egraph);
        if (options->json) {
            fmt::print("{}\n", inspect(options->artefact, {.costs = options->costs,
                                                           .machine = options->machine,
                                                           .measured_machines = environment.cache->root()}));
            return 0;
        }
        const runtime::Artefact artefact = runtime::Artefact::open(options->artefact);
        const bool is_whole = !options->plan && !options->memory && !options->operators && !options->graph &&
                              !options->manifest && options->egraph.empty();
        if (is_whole) print_overview(artefact);
        if (is_whole || options->memory) print_memory(artefact);
        if (is_whole || options->operators) print_operators(artefact);
        if (is_whole) fmt::print("\n");
        if (options->costs) {
            fmt::print("{}", plan_with_costs(artefact, machine_for(artefact, options->machine, "--costs",
                                                                   environment.cache->root())));
        } else if (is_whole || options->plan) {
            fmt::print("{}", artefact.plan());
        }
        if (options->graph) fmt::print("{}", artefact.graph());
        if (!options->egraph.empty()) write_egraph(artefact, *options, environment);
        if (options->manifest) fmt::print("{}\n", runtime::print(artefact.manifest()));
        return 0;
    };
}

}  // namespace

Verb inspect_verb() {
    return {.name = "inspect",
            .help =
                "show what an artefact holds: plan with predicted times, memory plan, operators with flops "
                "and bytes",
            .examples = {"tessera inspect tiny.tsr", "tessera inspect tiny.tsr --plan > plan.toml",
                         "tessera inspect tiny.tsr --plan --costs --machine host.toml",
                         "tessera inspect tiny.tsr --operators", "tessera inspect tiny.tsr --json --costs",
                         "tessera inspect ranks.tsr --distribution",
                         "tessera inspect tiny.tsr --egraph layouts.html",
                         "tessera inspect tiny.tsr --search --json"},
            .declare = declare_inspect};
}

}  // namespace tessera::cli
