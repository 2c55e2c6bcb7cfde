#include <algorithm>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "chip/read_chip.h"
#include "chip/read_chip_toml.h"
#include "chip/simulation.h"
#include "chip/trace.h"
#include "cli/chip.h"
#include "cli/number_checks.h"
#include "support/atomic_file.h"
#include "support/mapped_file.h"
#include "support/output_place.h"
#include "support/printable.h"
#include "support/progress.h"

namespace tessera::cli {
namespace {

constexpr size_t kShownOperators = 40;

struct ChipSimulateArguments {
    std::string chip;
    std::string program;
    std::string trace;
    std::string chrome;
    bool as_json = false;
};

double largest(const std::vector<double>& values) {
    return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

double mean(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value;
    return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

/// Cycles that the tiles of an operator take at least: those of its busiest core.
double compute_bound(const chip::Chip& chip, const chip::ProgramOperator& op) {
    std::vector<double> busy(static_cast<size_t>(chip.cores), 0);
    for (const chip::Tile& tile : op.tiles)
        busy[static_cast<size_t>(tile.core)] +=
            static_cast<double>(tile.flops) / chip.units[tile.unit].flops_per_cycle;
    return largest(busy);
}

/// Cycles that all controllers together need for a preload.
double hbm_bound(const chip::Chip& chip, const chip::ProgramOperator& op) {
    double bytes = 0, rate = 0;
    for (const chip::Transfer& transfer : op.of(chip::TransferKind::kPreload))
        bytes += static_cast<double>(transfer.bytes);
    for (const chip::HbmController& controller : chip.hbm) rate += controller.bytes_per_cycle;
    return bytes > 0 ? bytes / rate : 0;
}

nlohmann::ordered_json simulation_json(const chip::Chip& chip, const chip::DeviceProgram& program,
                                       const chip::Simulation& simulation,
                                       const chip::SimulationTotals& totals) {
    nlohmann::ordered_json operators = nlohmann::ordered_json::array();
    for (size_t i = 0; i < program.size(); ++i)
        operators.push_back({{"name", valid_utf8(program.at(i).name)},
                             {"preload", {simulation.preloads[i].begin, simulation.preloads[i].end}},
                             {"execute", {simulation.executes[i].begin, simulation.executes[i].end}},
                             {"hbm_bound", hbm_bound(chip, program.at(i))},
                             {"compute_bound", compute_bound(chip, program.at(i))}});
    return {{"total", totals.total},
            {"seconds", totals.total / chip.clock_hz},
            {"overlapped", totals.overlapped},
            {"execute_only", totals.execute_only},
            {"preload_only", totals.preload_only},
            {"stalled", totals.stalled},
            {"hbm_read_bytes", totals.hbm_read_bytes},
            {"preloaded_bytes", totals.preloaded_bytes},
            {"hbm_written_bytes", totals.hbm_written_bytes},
            {"hbm_utilisation", totals.hbm_utilisation},
            {"link_utilisation", totals.link_utilisation},
            {"compute_utilisation", totals.compute_utilisation},
            {"sram_peak", totals.sram_peak},
            {"operators", std::move(operators)}};
}

void print_simulation(const chip::Chip& chip, const chip::DeviceProgram& program,
                      const chip::Simulation& simulation, const chip::SimulationTotals& totals) {
    const auto percent = [&](double part) { return 100 * part / totals.total; };
    fmt::print("total       {:.1f} cycles, {:.4g} ms\n", totals.total, 1e3 * totals.total / chip.clock_hz);
    fmt::print("time        {:.1f} % overlapped, {:.1f} % execute only, {:.1f} % preload only\n",
               percent(totals.overlapped), percent(totals.execute_only), percent(totals.preload_only));
    fmt::print("stalled     {:.1f} % in executes without a tile\n", percent(totals.stalled));
    fmt::print("HBM         {:.1f} % busy, {} bytes read, {} written\n", 100 * mean(totals.hbm_utilisation),
               totals.hbm_read_bytes, totals.hbm_written_bytes);
    fmt::print("links       {:.1f} % busy\n", 100 * totals.link_utilisation);
    fmt::print("cores       {:.1f} % busy\n", 100 * mean(totals.compute_utilisation));
    fmt::print("SRAM        {} of {} bytes at the peak\n",
               *std::max_element(totals.sram_peak.begin(), totals.sram_peak.end()), chip.sram_bytes);
    fmt::print("\n{:>12}  {:>21}  {:>12}  {:>21}  operator\n", "HBM bound", "preload", "tile bound",
               "execute");
    for (size_t i = 0; i < std::min(program.size(), kShownOperators); ++i) {
        const chip::Span &preload = simulation.preloads[i], &execute = simulation.executes[i];
        fmt::print("{:>12.1f}  {:>10.1f} {:>10.1f}  {:>12.1f}  {:>10.1f} {:>10.1f}  {} {}\n",
                   hbm_bound(chip, program.at(i)), preload.begin, preload.end,
                   compute_bound(chip, program.at(i)), execute.begin, execute.end, i,
                   printable(program.at(i).name));
    }
    if (program.size() > kShownOperators)
        fmt::print("... {} more; --json lists all\n", program.size() - kShownOperators);
}

/// The chip as JSON; a description in TOML says the same and more.
std::string text_of_chip(const std::string& path) {
    if (path.ends_with(".toml"))
        return chip::chip_json(chip::simulated_chip(machine::read_description(path), path));
    return std::string(MappedFile::open(path).text());
}

int run_chip_simulate(const ChipSimulateArguments& arguments, std::FILE* terminal) {
    if (!arguments.trace.empty()) check_output(arguments.trace);
    if (!arguments.chrome.empty()) check_output(arguments.chrome);
    const std::string chip_text = text_of_chip(arguments.chip);
    const chip::Chip chip = chip::read_chip(chip_text, arguments.chip);
    const chip::DeviceProgram program =
        chip::read_device_program(MappedFile::open(arguments.program).text(), arguments.program, chip);
    const chip::Network network(chip);
    std::optional<Progress> progress(std::in_place, terminal, "simulating executes",
                                     static_cast<int64_t>(program.size()));
    const chip::Simulation simulation =
        chip::simulate(chip, network, program, arguments.program, chip::Recording::kEverything,
                       [&](size_t executed) { progress->update(static_cast<int64_t>(executed)); });
    progress.reset();
    const chip::SimulationTotals totals = chip::totals_of(chip, network, simulation);
    if (!arguments.trace.empty())
        write_file(arguments.trace, chip::trace_text(chip, network, program, chip_text, simulation));
    if (!arguments.chrome.empty())
        write_file(arguments.chrome, chip::chrome_trace_text(network, program, simulation));
    if (arguments.as_json)
        fmt::print("{}\n", simulation_json(chip, program, simulation, totals).dump(1));
    else
        print_simulation(chip, program, simulation, totals);
    return 0;
}

Job declare_chip_simulate(CLI::App& app, const Environment& environment) {
    const auto arguments = std::make_shared<ChipSimulateArguments>();
    app.add_option("CHIP_FILE", arguments->chip, "a chip as JSON, or its description as TOML")
        ->required()
        ->check(not_empty());
    app.add_option("PROGRAM_FILE", arguments->program, "a device program for it as JSON")
        ->required()
        ->check(not_empty());
    app.add_option("--trace", arguments->trace, "writes every packet, tile and space as JSON lines")
        ->check(not_empty())
        ->type_name("FILE");
    app.add_option("--chrome", arguments->chrome, "writes the same for chrome://tracing and Perfetto")
        ->check(not_empty())
        ->type_name("FILE");
    app.add_flag("--json", arguments->as_json, "times, breakdown and utilisation as JSON");
    return [arguments, terminal = environment.terminal] { return run_chip_simulate(*arguments, terminal); };
}

}  // namespace

Verb chip_simulate_part() {
    return {.name = "simulate",
            .help = "run a device program on a described chip, event by event",
            .examples = {"tessera chip simulate docs/chip_mesh.json docs/chip_program.json",
                         "tessera chip simulate chip.json program.json --trace t.jsonl --json",
                         "tessera chip simulate chip.json program.json --chrome t.json"},
            .declare = declare_chip_simulate};
}

}  // namespace tessera::cli
