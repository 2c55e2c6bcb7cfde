#include <array>

#include "fuzz/input_file.h"
#include "fuzz/target.h"
#include "run/llm/token_ids_file.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tessera;
    return fuzz::accepts_or_throws_error([&] {
        const fuzz::InputFile input(fuzz::text_of(data, size));
        constexpr std::array<std::string_view, 1> kKeys = {"ids"};
        (void)llm::read_token_ids(input.path(), kKeys);
    });
}

std::vector<std::string> tessera::fuzz::seeds() {
    return {};
}
