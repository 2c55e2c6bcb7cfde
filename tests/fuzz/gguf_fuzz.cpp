#include "fuzz/seeds.h"
#include "fuzz/target.h"
#include "import/gguf/gguf_config.h"
#include "import/gguf/gguf_file.h"
#include "import/gguf/gguf_weights.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tessera;
    return fuzz::accepts_or_throws_error([&] {
        std::vector<GgufFile> files;
        files.push_back(GgufFile::parse(std::as_bytes(std::span(data, size)), "fuzz.gguf"));
        const GgufFile& file = files.front();
        const GgufTensor* embedding = file.find_tensor("token_embd.weight");
        Findings findings;
        (void)read_gguf_config(file, embedding, findings);
        (void)file.metadata().write_file("tokenizer.");
        const GgufWeights weights{GgufParts(std::move(files))};
        for (const std::string& name : weights.names()) fuzz::read_ends(weights.find(name)->bytes);
    });
}

std::vector<std::string> tessera::fuzz::seeds() {
    return gguf_seeds();
}
