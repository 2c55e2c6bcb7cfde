#include "import/quantised/mixture.h"

#include "import/decoder.h"
#include "support/error.h"

namespace tessera::import {
namespace {

using ops::WeightFormat;

/// llama.cpp knows the models of 70 to 72 billion parameters by their number of layers.
constexpr int64_t kLayersOfSharedValues = 80;

WeightFormat base_of(Mixture mixture) {
    switch (mixture) {
        case Mixture::kQ8_0:
            return WeightFormat::kQ8_0;
        case Mixture::kQ4_0:
            return WeightFormat::kQ4_0;
        case Mixture::kQ4_K_M:
            return WeightFormat::kQ4_K;
    }
    TESSERA_CHECK(false, "mixture {}", static_cast<int>(mixture));
}

/// The first and the last eighth of the layers, and every third one between.
bool has_more_bits(int64_t layer, int64_t layers) {
    const int64_t eighth = layers / 8;
    return layer < eighth || layer >= 7 * layers / 8 || (layer - eighth) % 3 == 2;
}

/// Rows that the blocks do not divide get the next format up with small blocks.
std::optional<WeightFormat> fitting(WeightFormat format, int64_t inputs) {
    if (inputs % ops::info(format).block == 0) return format;
    switch (format) {
        case WeightFormat::kQ4_K:
            return fitting(WeightFormat::kQ5_0, inputs);
        case WeightFormat::kQ5_K:
            return fitting(WeightFormat::kQ5_1, inputs);
        case WeightFormat::kQ6_K:
            return fitting(WeightFormat::kQ8_0, inputs);
        default:
            return std::nullopt;
    }
}

void give(std::map<std::string, WeightFormat>& formats, const std::string& source, WeightFormat& own,
          const std::optional<WeightFormat>& wanted) {
    if (!ops::element_of(own))
        throw Error("quantize", source, fmt::format("is {} already", ops::info(own).name),
                    "quantise the float checkpoint that the model was made from");
    if (!wanted) return;
    own = *wanted;
    formats.emplace(source, *wanted);
}

}  // namespace

std::string_view name(Mixture mixture) {
    switch (mixture) {
        case Mixture::kQ8_0:
            return "q8_0";
        case Mixture::kQ4_0:
            return "q4_0";
        case Mixture::kQ4_K_M:
            return "q4_k_m";
    }
    TESSERA_CHECK(false, "mixture {}", static_cast<int>(mixture));
}

std::optional<Mixture> mixture_of(std::string_view name) {
    for (const Mixture mixture : {Mixture::kQ8_0, Mixture::kQ4_0, Mixture::kQ4_K_M})
        if (name == tessera::import::name(mixture)) return mixture;
    return std::nullopt;
}

std::optional<WeightFormat> format_in(Mixture mixture, LayerTensor tensor, int64_t layer, int64_t layers,
                                      int64_t inputs) {
    WeightFormat format = base_of(mixture);
    if (mixture == Mixture::kQ4_K_M) {
        const bool gains = tensor == LayerTensor::kValue || tensor == LayerTensor::kDown ||
                           tensor == LayerTensor::kExpertDown;
        if (gains && has_more_bits(layer, layers)) format = WeightFormat::kQ6_K;
        if (tensor == LayerTensor::kValue && format == WeightFormat::kQ4_K && layers == kLayersOfSharedValues)
            format = WeightFormat::kQ5_K;
    }
    return fitting(format, inputs);
}

std::optional<WeightFormat> format_in(Mixture mixture, bool is_head, int64_t inputs) {
    const WeightFormat base = base_of(mixture);
    return fitting(is_head && base != WeightFormat::kQ8_0 ? WeightFormat::kQ6_K : base, inputs);
}

std::map<std::string, WeightFormat> apply(Mixture mixture, DecoderSpec& spec) {
    std::map<std::string, WeightFormat> formats;
    const int64_t hidden = spec.size.hidden;
    give(formats, source_name(OuterTensor::kEmbedding, spec.names), spec.embedding,
         format_in(mixture, spec.is_tied, hidden));
    if (!spec.is_tied)
        give(formats, source_name(OuterTensor::kHead, spec.names), spec.head,
             format_in(mixture, true, hidden));
    const auto layers = static_cast<int64_t>(spec.layers.size());
    for (int64_t layer = 0; layer < layers; ++layer) {
        LayerFormats& own = spec.layers[static_cast<size_t>(layer)];
        for (size_t i = 0; i < kLayerTensors; ++i) {
            const auto tensor = static_cast<LayerTensor>(i);
            // As in llama.cpp, the scores of experts keep their numbers.
            if (!own[i] || !is_matrix(tensor) || tensor == LayerTensor::kRouter) continue;
            give(formats, source_name(tensor, layer, spec.names), *own[i],
                 format_in(mixture, tensor, layer, layers, shape_of(tensor, spec.size)[1]));
        }
    }
    return formats;
}

}  // namespace tessera::import
