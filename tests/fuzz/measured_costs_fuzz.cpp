#include <cmath>

#include "chip/fit_costs.h"
#include "fuzz/target.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tessera;
    using namespace tessera::chip;
    return fuzz::accepts_or_throws_error([&] {
        const FittedCosts costs = fit_costs(read_measured_costs(fuzz::text_of(data, size), "fuzz"), "fuzz");
        for (const FittedTiles& tiles : costs.tiles) {
            const std::vector<double> inputs(machine::inputs_of(tiles.costs.kind).size(), 8);
            const double cycles = tiles.costs.cycles(inputs);
            TESSERA_CHECK(std::isfinite(cycles) && cycles >= 1, "{}", cycles);
        }
        for (const FittedLink& link : costs.links)
            TESSERA_CHECK(link.bytes_per_cycle > 0 && link.latency >= 0, "{} {}", link.bytes_per_cycle,
                          link.latency);
    });
}

std::vector<std::string> tessera::fuzz::seeds() {
    return {};
}
