#include "fuzz/seeds.h"
#include "fuzz/target.h"
#include "machine/description_text.h"

/// Every description that is read is printed and read again, and so is every CPU by way of the compiler's
/// view.
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tessera;
    using namespace tessera::machine;
    return fuzz::accepts_or_throws_error([&] {
        const Description read = parse_description(fuzz::text_of(data, size), "fuzz");
        TESSERA_CHECK(parse_description(print_description(read), "printed") == read);
        if (!read.cpu) return;
        const Machine cpu = cpu_machine(read, "fuzz");
        const Description described = parse_description(print_description(describe(cpu)), "described");
        TESSERA_CHECK(cpu_machine(described, "described") == cpu);
    });
}

std::vector<std::string> tessera::fuzz::seeds() {
    std::vector<std::string> all;
    for (const char* folder : {"machines", "machines/chips", "machines/clusters", "tests/machine/older/cpus",
                               "tests/machine/older/chips", "tests/machine/older/clusters"})
        for (std::string& text : repository_files(folder, ".toml")) all.push_back(std::move(text));
    return all;
}
