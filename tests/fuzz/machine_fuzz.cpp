#include "fuzz/seeds.h"
#include "fuzz/target.h"
#include "machine/description_text.h"
#include "support/error.h"

namespace {

using namespace tessera;
using namespace tessera::machine;

/// What was printed is read, whatever it is: a refusal is a fault of the printer.
Description read_again(const std::string& printed) {
    try {
        return parse_description(printed, "printed");
    } catch (const Error& refusal) {
        TESSERA_CHECK(false, "{}\n{}", refusal.what(), printed);
        throw;
    }
}

}  // namespace

/// Every description that is read is printed and read again, and so is every CPU by way of the compiler's
/// view.
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    return fuzz::accepts_or_throws_error([&] {
        const Description read = parse_description(fuzz::text_of(data, size), "fuzz");
        TESSERA_CHECK(read_again(print_description(read)) == read);
        if (!read.cpu) return;
        const Machine cpu = cpu_machine(read, "fuzz");
        const Description described = read_again(print_description(describe(cpu)));
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
