#include "chip/partition/drawn_call.h"
#include "chip/partition/execute_step.h"
#include "chip/read_chip.h"
#include "chip/read_chip_toml.h"
#include "chip/simulation.h"
#include "chip/trace.h"
#include "fuzz/target.h"

namespace {

// The size of chip that the programs of the corpus are for.
constexpr const char* kChip = R"({"cores": 4, "sram_bytes": 100000, "clock_hz": 1000,
  "topology": {"kind": "mesh", "rows": 2, "columns": 2, "link_bytes_per_cycle": 8, "latency": 2},
  "hbm": [{"bytes_per_cycle": 12, "port_bytes_per_cycle": 8, "latency": 30, "at": [0, 3]},
          {"bytes_per_cycle": 8, "port_bytes_per_cycle": 8, "latency": 30, "at": [1]}],
  "compute": {"matrix": 64, "vector": 4}})";

// The chip on which programs are executed.
constexpr const char* kDescription = R"(name = "small"
cores = 4
clock_hz = 1e9
[sram]
bytes = 20000
port_bytes_per_cycle = 16
[vector]
flops_per_cycle = 2
special_flops = 4
[network]
topology = "all-to-all"
link_bytes_per_second = 4e9
latency_cycles = 5
[[hbm]]
bytes_per_second = 8e9
latency_cycles = 20
)";
constexpr const char* kGraph = R"(graph "g"
input x: f32[4, 6]
constant w: f32[4, 6] from "w"
value y: f32[4, 4]

block all
  node y(x, w) -> y
    op product(m: 4, n: 4, k*: 6)
    in X f32[m, k]
    in W f32[n, k]
    out Y f32[m, n] = sum(X * W)

output y
)";

void execute(std::string_view program) {
    using namespace tessera;
    const chip::ChipDescription chip = chip::parse_chip_description(kDescription, "chip");
    const Graph graph = parse_graph(kGraph, "graph");
    const GraphCall call = partition::drawn_call(graph, {}, 0, "graph");
    const partition::PlannedStep step = partition::edited_step(graph, call, chip, "graph", program, "fuzz");
    const partition::ExecutedStep executed = partition::execute_step(step, chip, call);
    // A program that is not refused computes the right numbers.
    for (const partition::Distance& each :
         partition::distances_of(graph, executed.executed.result, interpret_graph(graph, call)))
        TESSERA_CHECK(each.distance <= each.allowed, "{}", each.distance);
}

}  // namespace

/// Programs for one chip, or chips: a text with `cores` is one. Those with a `plan` are executed.
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tessera;
    using namespace tessera::chip;
    return fuzz::accepts_or_throws_error([&] {
        const std::string_view text = fuzz::text_of(data, size);
        if (text.find("\"cores\"") != std::string_view::npos) {
            const Chip read = read_chip(text, "fuzz");
            if (read.cores > 1000) return;
            const Network network(read);
            for (size_t link = 0; link < network.links().size(); ++link)
                TESSERA_CHECK(!network.name(static_cast<int32_t>(link)).empty());
            return;
        }
        if (text.find("\"plan\"") != std::string_view::npos) return execute(text);
        const Chip chip = read_chip(kChip, "chip");
        const DeviceProgram program = read_device_program(text, "fuzz", chip);
        const Network network(chip);
        const Simulation simulation = simulate(chip, network, program, "fuzz");
        const SimulationTotals totals = totals_of(chip, network, simulation);
        TESSERA_CHECK(totals.total > 0);
        TESSERA_CHECK(!trace_text(chip, network, program, kChip, simulation).empty());
    });
}

std::vector<std::string> tessera::fuzz::seeds() {
    return {};
}
