#include "fuzz/input_file.h"
#include "fuzz/seeds.h"
#include "fuzz/target.h"
#include "import/hf/config.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tessera;
    return fuzz::accepts_or_throws_error([&] {
        const fuzz::InputFile input(fuzz::text_of(data, size));
        import::Findings findings;
        (void)import::read_hf_config(input.path(), {}, findings);
    });
}

std::vector<std::string> tessera::fuzz::seeds() {
    return config_seeds();
}
