#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "chip/read_chip_toml.h"
#include "cli/chip.h"
#include "cli/number_checks.h"

namespace tessera::cli {
namespace {

struct ChipCheckArguments {
    std::string file;
    bool as_json = false;
};

/// Rates of the whole chip, per second, that follow from its description.
struct ChipSums {
    double sram_bytes, port, matrix, vector, links, hbm, between_chips;
};

ChipSums sums_of(const chip::ChipDescription& description) {
    const chip::Chip& chip = description.chip;
    const double clock = chip.clock_hz, cores = chip.cores;
    return {.sram_bytes = static_cast<double>(chip.sram_bytes) * cores,
            .port = description.port_bytes_per_cycle * cores * clock,
            .matrix = description.matrix ? description.matrix->flops_per_cycle * cores * clock : 0,
            .vector = description.vector.flops_per_cycle * cores * clock,
            .links = chip.link_bytes_per_cycle * cores * clock,
            .hbm = description.hbm_bytes_per_cycle() * clock,
            .between_chips = description.pod.bytes_per_cycle * clock};
}

nlohmann::ordered_json check_json(const chip::ChipDescription& description) {
    const ChipSums sums = sums_of(description);
    nlohmann::ordered_json json = {{"name", description.chip.name},
                                   {"cores", description.chip.cores},
                                   {"sram_bytes_of_core", description.chip.sram_bytes},
                                   {"sram_bytes", sums.sram_bytes},
                                   {"sram_bytes_per_second", sums.port},
                                   {"matrix_flops_per_second", sums.matrix},
                                   {"vector_flops_per_second", sums.vector},
                                   {"link_bytes_per_second", sums.links},
                                   {"hbm_bytes_per_second", sums.hbm},
                                   {"chips", description.pod.chips}};
    if (description.pod.chips > 1) json["chip_bytes_per_second"] = sums.between_chips;
    if (description.chip.is_grid()) json["shape"] = description.shape;
    return json;
}

void print_check(const chip::ChipDescription& description) {
    const chip::Chip& chip = description.chip;
    const ChipSums sums = sums_of(description);
    fmt::print("chip        {}{}\n", chip.name,
               description.pod.chips > 1 ? fmt::format(", {} of them in a pod", description.pod.chips) : "");
    fmt::print("cores       {}, {:.4g} GHz\n", chip.cores, chip.clock_hz / 1e9);
    fmt::print("SRAM        {} bytes of each core besides {} reserved, {:.4g} MB in all, {:.4g} TB/s\n",
               chip.sram_bytes, description.reserved_bytes, sums.sram_bytes / 1e6, sums.port / 1e12);
    if (description.matrix)
        fmt::print("matrix      {:.4g} TFLOPS in blocks of {}\n", sums.matrix / 1e12,
                   fmt::join(description.matrix->block, " x "));
    fmt::print("vector      {:.4g} TFLOPS\n", sums.vector / 1e12);
    fmt::print("network     {}{}, {:.4g} GB/s a link, {:.4g} TB/s into all cores\n",
               machine::name(chip.topology),
               chip.is_grid() ? fmt::format(" {}", fmt::join(description.shape, " x ")) : "",
               chip.link_bytes_per_cycle * chip.clock_hz / 1e9, sums.links / 1e12);
    fmt::print("HBM         {} modules, {:.4g} TB/s\n", chip.hbm.size(), sums.hbm / 1e12);
    if (description.pod.chips > 1)
        fmt::print("between     {:.4g} GB/s into each chip\n", sums.between_chips / 1e9);
    fmt::print("ridge       {:.4g} flops for each byte of HBM, {:.4g} for each byte of a link\n",
               std::max(sums.matrix, sums.vector) / sums.hbm,
               std::max(sums.matrix, sums.vector) / sums.links);
    if (!description.energy) fmt::print("energy      not described\n");
}

int run_chip_check(const ChipCheckArguments& arguments) {
    const chip::ChipDescription description = chip::read_chip_description(arguments.file);
    if (arguments.as_json)
        fmt::print("{}\n", check_json(description).dump(1));
    else
        print_check(description);
    return 0;
}

Job declare_chip_check(CLI::App& app, const Environment&) {
    const auto arguments = std::make_shared<ChipCheckArguments>();
    app.add_option("FILE", arguments->file, "a chip as TOML (machines/chips)")
        ->required()
        ->check(not_empty());
    app.add_flag("--json", arguments->as_json, "the same as JSON");
    return [arguments] { return run_chip_check(*arguments); };
}

}  // namespace

Verb chip_check_part() {
    return {.name = "check",
            .help = "read the description of a chip, and say what it adds up to",
            .examples = {"tessera chip check machines/chips/ipu-pod4-hbm.toml",
                         "tessera chip check mine.toml --json"},
            .declare = declare_chip_check};
}

}  // namespace tessera::cli
