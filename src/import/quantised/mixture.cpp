#include "import/quantised/mixture.h"

#include <algorithm>
#include <initializer_list>

#include "import/model_spec.h"
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

/// True if one of these functions reads the tensor: only they know quantised formats.
bool is_read_by(const SpecPart& part, const std::string& tensor,
                std::initializer_list<std::string_view> functions) {
    return std::ranges::any_of(part.steps, [&](const PartStep& step) {
        bool is_read = false;
        walk(step.term, [&](const Term& each) {
            const bool is_one =
                std::ranges::any_of(functions, [&](auto function) { return each.is_call(function); });
            if (!is_one) return;
            for (const TermPtr& argument : each.arguments) is_read = is_read || argument->is_name(tensor);
        });
        return is_read;
    });
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

std::optional<WeightFormat> format_in(Mixture mixture, std::string_view tensor, int64_t layer, int64_t layers,
                                      int64_t inputs) {
    WeightFormat format = base_of(mixture);
    if (mixture == Mixture::kQ4_K_M) {
        const bool is_value = tensor == "v_weight";
        const bool gains = is_value || tensor == "down_weight" || tensor == "expert_down_weight";
        if (gains && has_more_bits(layer, layers)) format = WeightFormat::kQ6_K;
        if (is_value && format == WeightFormat::kQ4_K && layers == kLayersOfSharedValues)
            format = WeightFormat::kQ5_K;
    }
    return fitting(format, inputs);
}

std::optional<WeightFormat> format_in(Mixture mixture, bool is_head, int64_t inputs) {
    const WeightFormat base = base_of(mixture);
    return fitting(is_head && base != WeightFormat::kQ8_0 ? WeightFormat::kQ6_K : base, inputs);
}

std::map<std::string, WeightFormat> apply(Mixture mixture, ModelSpec& spec) {
    std::map<std::string, WeightFormat> formats;
    const bool is_tied = spec.is_tied();
    for (SpecPart* part : {&spec.embed, &spec.head})
        for (auto& [name, tensor] : part->tensors) {
            if (tensor.shape.size() != 2 || !tensor.tied.empty() ||
                !is_read_by(*part, name, {"lookup", "linear"}))
                continue;
            const bool is_head = part == &spec.head || is_tied;
            give(formats, tensor.source, tensor.format, format_in(mixture, is_head, tensor.shape[1]));
        }
    for (auto& [name, tensor] : spec.head.tensors)
        if (!tensor.tied.empty()) tensor.format = spec.embed.tensors.at(tensor.tied).format;
    const auto layers = std::ssize(spec.layers);
    for (int64_t layer = 0; layer < layers; ++layer) {
        SpecPart& part = spec.layers[static_cast<size_t>(layer)];
        for (auto& [name, tensor] : part.tensors) {
            // As in llama.cpp, the scores of experts keep their numbers.
            if (tensor.shape.size() != 2 || !is_read_by(part, name, {"linear", "experts"}) ||
                name == "router_weight")
                continue;
            give(formats, tensor.source, tensor.format,
                 format_in(mixture, name, layer, layers, tensor.shape[1]));
        }
    }
    return formats;
}

}  // namespace tessera::import
