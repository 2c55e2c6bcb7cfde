#include "import/diffusion_config.h"

#include <fmt/core.h>

#include "import/hf/settings.h"
#include "import/hf/unsupported_settings.h"
#include "import/model_config.h"
#include "support/error.h"
#include "support/json.h"

namespace tessera::import {
namespace {

constexpr const char* kClass = "_class_name";
constexpr int64_t kMostSide = 1 << 12;
constexpr int64_t kMostChannels = 1 << 12;
constexpr int64_t kMostPatch = 64;

void read_class(HfSettings& settings) {
    const auto name = settings.text(kClass);
    if (!name || (*name != "DiTTransformer2DModel" && *name != "Transformer2DModel"))
        settings.refuse(kClass, "known are DiTTransformer2DModel and Transformer2DModel");
    const auto norm = settings.text("norm_type");
    if (norm && *norm != "ada_norm_zero")
        settings.refuse("norm_type", "known is ada_norm_zero, norms that time and class modulate");
    if (!norm && name && *name == "Transformer2DModel")
        throw Error(settings.path(), "norm_type", "is missing, expected ada_norm_zero");
    const auto activation = settings.text("activation_fn");
    if (activation && *activation != "gelu-approximate")
        settings.refuse("activation_fn", "known is gelu-approximate");
}

/// Settings of Transformer2DModel that make it another model, and those that change no shape.
void account_for_others(HfSettings& settings) {
    settings.refuse_unless_neutral("cross_attention_dim", "attention to another sequence");
    settings.refuse_unless_neutral("double_self_attention", "two attentions in a layer");
    settings.refuse_unless_neutral("only_cross_attention", "attention to another sequence");
    settings.refuse_unless_neutral("num_vector_embeds", "discrete latent pixels");
    settings.refuse_unless_neutral("caption_channels", "captions");
    settings.refuse_unless_neutral("norm_elementwise_affine", "norms with scales");
    if (!settings.boolean("attention_bias", true))
        settings.refuse("attention_bias", "matrices of attention without biases");
    for (const char* field : {"_diffusers_version", "_name_or_path", "dropout", "norm_num_groups",
                              "upcast_attention", "use_linear_projection", "attention_type"})
        settings.ignore(field);
}

}  // namespace

bool is_diffusion_config(const std::filesystem::path& file) {
    return read_json_object(file.string()).peek(kClass).has_value();
}

DiffusionConfig read_diffusion_config(const std::filesystem::path& file, Findings& findings) {
    HfSettings settings(read_json_object(file.string()), findings);
    read_class(settings);
    DiffusionConfig config;
    config.layers = settings.integer("num_layers", {1, limits::kLayers});
    config.heads = settings.integer("num_attention_heads", {1, limits::kHeads});
    config.head_width = settings.integer("attention_head_dim", {1, limits::kHeadWidth});
    config.patch = settings.integer("patch_size", {1, kMostPatch});
    config.side = settings.integer("sample_size", {1, kMostSide});
    config.in_channels = settings.integer("in_channels", {1, kMostChannels});
    config.out_channels = settings.integer("out_channels", {1, kMostChannels}, config.in_channels);
    config.classes = settings.integer("num_embeds_ada_norm", {1, limits::kVocabulary});
    config.epsilon = settings.real("norm_eps", {0, 1}, 1e-5);
    const auto old_type = settings.text("torch_dtype");
    config.stated_type = settings.text("dtype").value_or(old_type.value_or(""));
    account_for_others(settings);
    if (config.side % config.patch != 0)
        throw Error(file.string(), "patch_size",
                    fmt::format("is {}, expected a divisor of sample_size = {}", config.patch, config.side));
    account_for_rest(settings, findings);
    return config;
}

}  // namespace tessera::import
