#include "chip/network.h"
#include "chip/read_chip.h"
#include "chip/read_chip_toml.h"
#include "fuzz/seeds.h"
#include "fuzz/target.h"

/// Every chip that is read has the rates that it says, and the simulator reads what is written of it.
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tessera;
    return fuzz::accepts_or_throws_error([&] {
        const chip::ChipDescription read = chip::parse_chip_description(fuzz::text_of(data, size), "fuzz");
        TESSERA_CHECK(read.hbm_bytes_per_cycle() > 0 && read.chip.sram_bytes > 0);
        if (read.shape.size() <= 2)
            TESSERA_CHECK(chip::read_chip(chip::chip_json(read.chip), "fuzz") == read.chip);
    });
}

std::vector<std::string> tessera::fuzz::seeds() {
    return repository_files("machines/chips", ".toml");
}
