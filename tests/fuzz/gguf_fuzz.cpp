#include <array>
#include <string_view>

#include "fuzz/seeds.h"
#include "fuzz/target.h"
#include "import/gguf/gguf_config.h"
#include "import/gguf/gguf_file.h"
#include "import/gguf/gguf_weights.h"
#include "import/place_tensors.h"
#include "import/tensor_views.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tessera;
    return fuzz::accepts_or_throws_error([&] {
        std::vector<import::GgufFile> files;
        files.push_back(import::GgufFile::parse(std::as_bytes(std::span(data, size)), "fuzz.gguf"));
        const import::GgufFile& file = files.front();
        (void)file.metadata().write_file(std::array<std::string_view, 1>{"tokenizer."});
        const import::GgufParts parts(std::move(files));
        import::Findings findings;
        const auto config = import::read_gguf_config(parts.first(), parts, {}, findings);
        const auto weights = std::make_shared<const import::GgufWeights>(parts);
        for (const std::string& name : weights->names()) fuzz::read_ends(weights->find(name)->bytes);
        if (!config || config->layers_differ) return;
        const import::PlacedTensors placed =
            import::place_tensors(*config, import::parts_of(*config), weights.get());
        const import::TensorViews views(weights, placed.views);
        for (const std::string& name : views.names()) fuzz::read_ends(views.contents(name).bytes);
    });
}

std::vector<std::string> tessera::fuzz::seeds() {
    return gguf_seeds();
}
