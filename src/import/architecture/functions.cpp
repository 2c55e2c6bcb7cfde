#include "import/architecture/functions.h"

#include <algorithm>
#include <utility>

namespace tessera::import {
namespace {

constexpr size_t kAny = 16;

constexpr ValueFunction kFunctions[] = {
    {"lookup", 2, 2, ""},
    {"layers", 1, 1, ""},
    {"linear", 2, 2, ""},
    {"rms", 1, 2, "eps plus"},
    {"layernorm", 1, 2, "eps plus"},
    {"shape", 2, 3, ""},
    {"split", 3, kAny, ""},
    {"join", 2, kAny, ""},
    {"sine", 1, 1, ""},
    {"cosine", 1, 1, ""},
    {"rotate", 2, 2, "back pairs"},
    {"spread", 2, 2, ""},
    {"cache", 1, 1, ""},
    {"attend", 3, 3,
     "ahead cap chosen chunk distances index_keys index_queries index_weights key_distances part "
     "query_distances scale slopes sinks values window"},
    {"alibi", 1, 2, ""},
    {"buckets", 2, 2, "both"},
    {"conv", 2, 2, ""},
    {"softmax", 1, 1, ""},
    {"top", 2, 2, ""},
    {"pick", 2, 2, ""},
    {"rows", 2, 2, ""},
    {"experts", 3, 3, ""},
    {"each", 2, 2, ""},
    {"shares", 2, 2, "all"},
    {"mix", 2, 2, ""},
};

constexpr std::pair<std::string_view, ops::ActivationFunction> kActivations[] = {
    {"silu", ops::ActivationFunction::kSilu},
    {"gelu", ops::ActivationFunction::kGelu},
    {"gelu_tanh", ops::ActivationFunction::kGeluTanh},
    {"relu", ops::ActivationFunction::kRelu},
    {"relu2", ops::ActivationFunction::kSquaredRelu},
    {"softplus", ops::ActivationFunction::kSoftplus},
    {"quick_gelu", ops::ActivationFunction::kQuickGelu},
};

constexpr std::pair<std::string_view, std::string_view> kTransformers[] = {
    {"silu", "silu"},
    {"swish", "silu"},
    {"gelu", "gelu"},
    {"gelu_python", "gelu"},
    {"gelu_pytorch_tanh", "gelu_tanh"},
    {"gelu_new", "gelu_tanh"},
    {"gelu_fast", "gelu_tanh"},
    {"gelu_accurate", "gelu_tanh"},
    {"gelu_python_tanh", "gelu_tanh"},
    {"relu", "relu"},
    {"relu2", "relu2"},
    {"quick_gelu", "quick_gelu"},
};

}  // namespace

std::span<const ValueFunction> value_functions() {
    return kFunctions;
}

const ValueFunction* find_value_function(std::string_view name) {
    const auto* const found = std::ranges::find(kFunctions, name, &ValueFunction::name);
    return found == std::end(kFunctions) ? nullptr : found;
}

std::optional<ops::ActivationFunction> find_activation(std::string_view name) {
    for (const auto& [own, function] : kActivations)
        if (own == name) return function;
    return std::nullopt;
}

std::string_view activation_of_transformers(std::string_view name) {
    for (const auto& [own, function] : kTransformers)
        if (own == name) return function;
    return {};
}

}  // namespace tessera::import
