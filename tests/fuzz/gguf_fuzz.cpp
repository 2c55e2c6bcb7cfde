#include "fuzz/seeds.h"
#include "fuzz/target.h"
#include "import/gguf/gguf_config.h"
#include "import/gguf/gguf_file.h"
#include "import/gguf/gguf_weights.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tessera;
    return fuzz::accepts_or_throws_error([&] {
        const auto file = std::make_shared<const GgufFile>(
            GgufFile::parse(std::as_bytes(std::span(data, size)), "fuzz.gguf"));
        const GgufWeights weights(file);
        for (const std::string& name : weights.names()) fuzz::read_ends(weights.find(name)->bytes);
        (void)file->metadata().write_file("tokenizer.");
        Findings findings;
        (void)read_gguf_config(*file, findings);
    });
}

std::vector<std::string> tessera::fuzz::seeds() {
    return gguf_seeds();
}
