#include "fuzz/seeds.h"
#include "fuzz/target.h"
#include "ir/definition.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tessera;
    return fuzz::accepts_or_throws_error(
        [&] { (void)parse_definition_file(fuzz::text_of(data, size), "fuzz"); });
}

std::vector<std::string> tessera::fuzz::seeds() {
    return repository_files("tests/ir/facts/definitions", ".op");
}
