#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/compiling.h"
#include "cli/nest_report.h"
#include "cli/number_checks.h"
#include "cli/price_nests.h"
#include "cli/price_report.h"
#include "cli/verb.h"
#include "support/error.h"
#include "support/limits.h"
#include "support/mapped_file.h"

namespace tessera::cli {
namespace {

struct PriceArguments {
    std::string file;
    std::vector<std::string> kernels;  ///< files
    std::string machine;
    std::string cost;     ///< empty: what planning counts, or the facts alone
    int64_t workers = 0;  ///< 0: the machine's cores
    bool as_json = false;
};

[[noreturn]] void refuse_usage(const std::string& flag, const std::string& problem,
                               const std::string& advice = {}) {
    throw Error("", flag, problem, advice, ErrorKind::kUsage);
}

std::vector<plan::StatedText> read_kernels(const std::vector<std::string>& files) {
    std::vector<plan::StatedText> all;
    for (const std::string& file : files) {
        std::vector<plan::StatedText> more = plan::read_stated_texts(MappedFile::open(file).text(), file);
        std::move(more.begin(), more.end(), std::back_inserter(all));
    }
    return all;
}

int price_program(const PriceArguments& options, const Environment& environment) {
    const Graph graph = parse_graph(MappedFile::open(options.file).text(), options.file);
    verify(graph, options.file);
    const std::vector<plan::StatedText> stated = read_kernels(options.kernels);
    const compiler::GraphPrices prices =
        compiler::price_graph(graph, stated, read_machine(options.machine, environment),
                              {.workers = options.workers > 0 ? std::optional(options.workers) : std::nullopt,
                               .cost = machine::find_published_model(options.cost)});
    const std::string text =
        options.as_json ? prices_as_json(prices).dump(1) + "\n" : prices_in_words(prices);
    std::fwrite(text.data(), 1, text.size(), stdout);
    const auto illegal = std::ranges::count_if(prices.nests, [](const compiler::PricedNest& nest) {
        return std::holds_alternative<planner::StatedRefusal>(nest.verdict);
    });
    return report_illegal(options.file, static_cast<size_t>(illegal), prices.nests.size());
}

/// The files that the verb reads.
struct PricedFile {
    std::string_view extension;
    bool has_nest;  ///< else nests are stated beside it
    bool has_levels;
};
constexpr std::array kFiles = {PricedFile{".ir", false, false}, PricedFile{".nest", true, false},
                               PricedFile{".space", false, false}, PricedFile{".tier", true, true},
                               PricedFile{".tiers", false, true}};

int run_price(const PriceArguments& options, const Environment& environment) {
    const std::string extension = std::filesystem::path(options.file).extension();
    const auto* file = std::ranges::find(kFiles, extension, &PricedFile::extension);
    if (file == kFiles.end())
        throw Error(options.file, "",
                    "is named neither `.ir` nor `.nest`, `.space`, `.tier` or `.tiers`, and this verb reads "
                    "nothing else",
                    "a graph, or operators with a nest or a machine; docs/price.md has them");
    if (!file->has_nest && options.kernels.empty())
        refuse_usage("--kernels", fmt::format("is missing: a {} file has no nest of its own", extension),
                     "name a file of `[[kernel]]` with `nest = \"..\"` (docs/price.md)");
    if (extension == ".ir") return price_program(options, environment);
    if (!options.machine.empty())
        refuse_usage("--machine", "is of graphs: this file describes its own machine");
    if (options.workers > 0) refuse_usage("--workers", "is of graphs: this file has its own units");
    return price_nests({.file = options.file,
                        .stated = read_kernels(options.kernels),
                        .cost = machine::find_published_model(options.cost),
                        .is_space = extension == ".space",
                        .has_levels = file->has_levels,
                        .as_json = options.as_json});
}

}  // namespace

Verb price_verb() {
    return {
        .name = "price",
        .help = "what nests compute, move between memory levels, hold in them, and cost",
        .examples = {"tessera price chain.ir --kernels kernels.toml",
                     "tessera price chain.ir --kernels kernels.toml --machine host.toml --workers 2 --json",
                     "tessera price chain.tier --json", "tessera price chain.nest --cost mcfuser",
                     "tessera price chain.space --kernels nests.toml --cost roofline --json"},
        .declare = [](CLI::App& app, const Environment& environment) -> Job {
            const auto options = std::make_shared<PriceArguments>();
            app.add_option("FILE", options->file,
                           "a graph (.ir); or operators, perhaps with a nest and a machine: .nest, .space, "
                           "or on memory levels .tier, .tiers")
                ->required()
                ->check(not_empty());
            app.add_option("--kernels", options->kernels,
                           "the nests, each priced by itself (docs/price.md); may be repeated. In place of "
                           "the file's own nest, if it has one")
                ->check(not_empty())
                ->type_name("FILE");
            app.add_option("--cost", options->cost,
                           "price by a published model, too: nncase, mcfuser or roofline")
                ->check(CLI::IsMember(machine::published_model_names()))
                ->type_name("MODEL");
            app.add_option("--machine", options->machine,
                           "of a graph: machine description (TOML); default: this machine as it is known")
                ->check(not_empty())
                ->type_name("FILE");
            app.add_option("--workers", options->workers,
                           "of a graph: threads that compute together; default: the machine's cores")
                ->check(whole_number(1, kMostWorkers))
                ->type_name("N");
            app.add_flag("--json", options->as_json, "the same as JSON, with illegal nests, too");
            return [options, &environment] { return run_price(*options, environment); };
        }};
}

}  // namespace tessera::cli
