#include <array>
#include <string_view>

#include "fuzz/seeds.h"
#include "fuzz/target.h"
#include "import/gguf/gguf_config.h"
#include "import/gguf/gguf_file.h"
#include "import/gguf/gguf_weights.h"
#include "import/tensor_views.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tessera;
    return fuzz::accepts_or_throws_error([&] {
        std::vector<import::GgufFile> files;
        files.push_back(import::GgufFile::parse(std::as_bytes(std::span(data, size)), "fuzz.gguf"));
        const import::GgufFile& file = files.front();
        const import::GgufTensor* embedding = file.find_tensor("token_embd.weight");
        import::Findings findings;
        const auto config = import::read_gguf_config(file, embedding, findings);
        (void)file.metadata().write_file(std::array<std::string_view, 1>{"tokenizer."});
        const auto weights = std::make_shared<const import::GgufWeights>(import::GgufParts(std::move(files)));
        for (const std::string& name : weights->names()) fuzz::read_ends(weights->find(name)->bytes);
        if (!config) return;
        const import::TensorViews views(weights, *config);
        for (const std::string& name : views.names()) fuzz::read_ends(views.contents(name).bytes);
    });
}

std::vector<std::string> tessera::fuzz::seeds() {
    return gguf_seeds();
}
