#include "fuzz/seeds.h"
#include "fuzz/target.h"
#include "machine/machine_text.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tessera;
    return fuzz::accepts_or_throws_error([&] {
        const machine::Machine machine = machine::parse_machine(fuzz::text_of(data, size), "fuzz");
        TESSERA_CHECK(machine::parse_machine(machine::print_machine(machine), "fuzz") == machine);
    });
}

std::vector<std::string> tessera::fuzz::seeds() {
    return repository_files("machines", ".toml");
}
