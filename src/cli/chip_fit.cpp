#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "chip/fit_costs.h"
#include "chip/read_chip_toml.h"
#include "cli/chip.h"
#include "cli/number_checks.h"
#include "machine/description_text.h"
#include "support/atomic_file.h"
#include "support/error.h"
#include "support/mapped_file.h"
#include "support/output_place.h"

namespace tessera::cli {
namespace {

/// Beyond this mean error a model says little about other tiles.
constexpr double kDoubtful = 0.1;

struct ChipFitArguments {
    std::string table;
    std::string chip;
    std::string out;
    bool as_json = false;
};

nlohmann::ordered_json errors_json(const chip::FitErrors& errors) {
    return {{"median", errors.median}, {"mean", errors.mean}, {"largest", errors.largest}};
}

nlohmann::ordered_json fit_json(const chip::FittedCosts& costs) {
    nlohmann::ordered_json tiles = nlohmann::ordered_json::array(), links = tiles;
    for (const chip::FittedTiles& each : costs.tiles) {
        const auto inputs = machine::inputs_of(each.costs.kind);
        nlohmann::ordered_json nodes = nlohmann::ordered_json::array();
        for (const machine::CostNode& node : each.costs.nodes) {
            if (node.input)
                nodes.push_back(
                    {{"input", inputs[*node.input]}, {"below", node.below}, {"otherwise", node.otherwise}});
            else
                nodes.push_back({{"constant", node.constant}, {"slopes", node.slopes}});
        }
        tiles.push_back({{"operator", machine::name(each.costs.kind)},
                         {"measurements", each.samples},
                         {"inputs", inputs},
                         {"nodes", std::move(nodes)},
                         {"errors", errors_json(each.errors)}});
    }
    for (const chip::FittedLink& each : costs.links)
        links.push_back({{"link", chip::name(each.link)},
                         {"measurements", each.samples},
                         {"latency_cycles", each.latency},
                         {"bytes_per_cycle", each.bytes_per_cycle},
                         {"errors", errors_json(each.errors)}});
    return {{"operators", std::move(tiles)}, {"links", std::move(links)}};
}

void print_line(std::string_view what, size_t samples, const std::string& model,
                const chip::FitErrors& errors) {
    fmt::print("{:<12} {:>12} {:>7.2f}% {:>7.2f}% {:>7.2f}%  {}{}\n", what, samples, 100 * errors.median,
               100 * errors.mean, 100 * errors.largest, model,
               errors.mean > kDoubtful ? "; doubtful: too few measurements, or other causes" : "");
}

void print_fit(const chip::FittedCosts& costs) {
    fmt::print("{:<12} {:>12} {:>8} {:>8} {:>8}  {}\n", "", "measurements", "median", "mean", "largest",
               "model");
    for (const chip::FittedTiles& each : costs.tiles) {
        const size_t leaves = (each.costs.nodes.size() + 1) / 2;
        print_line(machine::name(each.costs.kind), each.samples,
                   fmt::format("{} linear function{}", leaves, leaves == 1 ? "" : "s"), each.errors);
    }
    for (const chip::FittedLink& each : costs.links)
        print_line(fmt::format("link {}", chip::name(each.link)), each.samples,
                   fmt::format("{:.4g} cycles and {:.4g} bytes a cycle", each.latency, each.bytes_per_cycle),
                   each.errors);
}

int run_chip_fit(const ChipFitArguments& arguments) {
    if (arguments.chip.empty() != arguments.out.empty())
        throw Error("", arguments.chip.empty() ? "--chip" : "--out",
                    "is missing: --out writes the chip of --chip with the fitted costs", {},
                    ErrorKind::kUsage);
    if (!arguments.out.empty()) check_output(arguments.out);
    const chip::FittedCosts costs =
        chip::fit_costs(chip::read_measured_costs(MappedFile::open(arguments.table).text(), arguments.table),
                        arguments.table);
    if (!arguments.out.empty()) {
        const machine::Description chip =
            chip::with_costs(machine::read_description(arguments.chip), costs, arguments.chip);
        chip::chip_description(chip, arguments.chip);  // refuses what is no chip
        write_file(arguments.out, machine::print_description(chip));
    }
    if (arguments.as_json)
        fmt::print("{}\n", fit_json(costs).dump());
    else
        print_fit(costs);
    return 0;
}

Job declare_chip_fit(CLI::App& app, const Environment&) {
    const auto arguments = std::make_shared<ChipFitArguments>();
    app.add_option("TABLE", arguments->table, "measured times as CSV: tiles by their shapes, links by bytes")
        ->required()
        ->check(not_empty());
    app.add_option("--chip", arguments->chip, "the chip as TOML whose costs were measured")
        ->check(not_empty())
        ->type_name("FILE");
    app.add_option("--out", arguments->out, "writes the chip with the fitted costs")
        ->check(not_empty())
        ->type_name("FILE");
    app.add_flag("--json", arguments->as_json, "the models as JSON");
    return [arguments] { return run_chip_fit(*arguments); };
}

}  // namespace

Verb chip_fit_part() {
    return {.name = "fit",
            .help = "fit the costs of a chip's tiles and links from measurements, with their errors",
            .examples = {"tessera chip fit measured.csv",
                         "tessera chip fit measured.csv --chip mine.toml --out fitted.toml"},
            .declare = declare_chip_fit};
}

}  // namespace tessera::cli
