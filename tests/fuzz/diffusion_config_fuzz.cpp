#include "fuzz/input_file.h"
#include "fuzz/target.h"
#include "import/diffusion_config.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tessera;
    return fuzz::accepts_or_throws_error([&] {
        const fuzz::InputFile input(fuzz::text_of(data, size));
        import::Findings findings;
        (void)import::is_diffusion_config(input.path());
        (void)import::read_diffusion_config(input.path(), findings);
    });
}

std::vector<std::string> tessera::fuzz::seeds() {
    return {R"({"_class_name": "DiTTransformer2DModel", "num_layers": 28, "num_attention_heads": 16,
 "attention_head_dim": 72, "patch_size": 2, "sample_size": 32, "in_channels": 4, "out_channels": 8,
 "num_embeds_ada_norm": 1000, "norm_type": "ada_norm_zero", "norm_eps": 1e-6, "torch_dtype": "float16"})",
            R"({"_class_name": "Transformer2DModel", "norm_type": "ada_norm_zero", "num_layers": 1,
 "num_attention_heads": 1, "attention_head_dim": 8, "patch_size": 1, "sample_size": 1, "in_channels": 1,
 "num_embeds_ada_norm": 1, "cross_attention_dim": null, "only_cross_attention": false})"};
}
