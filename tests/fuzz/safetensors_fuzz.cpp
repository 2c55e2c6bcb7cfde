#include "fuzz/input_file.h"
#include "fuzz/seeds.h"
#include "fuzz/target.h"
#include "import/hf/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tessera;
    return fuzz::accepts_or_throws_error([&] {
        const fuzz::InputFile input(fuzz::text_of(data, size));
        const import::SafetensorsFile file = import::SafetensorsFile::open(input.path());
        for (const std::string& name : file.names()) {
            fuzz::read_ends(file.find(name)->bytes);
            file.release(name);
        }
    });
}

std::vector<std::string> tessera::fuzz::seeds() {
    return safetensors_seeds();
}
