#include "chip/read_chip.h"
#include "chip/simulation.h"
#include "chip/trace.h"
#include "fuzz/target.h"

namespace {

// Of the size that the programs of the corpus are for.
constexpr const char* kChip = R"({"cores": 4, "sram_bytes": 100000, "clock_hz": 1000,
  "topology": {"kind": "mesh", "rows": 2, "columns": 2, "link_bytes_per_cycle": 8, "latency": 2},
  "hbm": [{"bytes_per_cycle": 12, "port_bytes_per_cycle": 8, "latency": 30, "at": [0, 3]},
          {"bytes_per_cycle": 8, "port_bytes_per_cycle": 8, "latency": 30, "at": [1]}],
  "compute": {"matrix": 64, "vector": 4}})";

}  // namespace

/// Programs for one chip, or chips: a text with `cores` is one.
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
