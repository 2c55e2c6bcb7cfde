#include "import/model_config.h"

#include <algorithm>

#include "support/error.h"

namespace tessera::import {
namespace {

constexpr int kDeepestLets = 50;

std::optional<Scalar> find_value(const ModelConfig& config, std::optional<int64_t> layer,
                                 const std::string& name, int depth) {
    if (name == "is_gguf") return Scalar{config.is_gguf};
    if (name == "layer") return layer ? std::optional(Scalar{*layer}) : std::nullopt;
    if (const auto found = config.settings.find(name); found != config.settings.end()) return found->second;
    if (const auto found = config.settings_of_layers.find(name); found != config.settings_of_layers.end())
        return layer ? std::optional(found->second.at(static_cast<size_t>(*layer))) : std::nullopt;
    const auto let = std::ranges::find(config.architecture->lets, name, &Let::name);
    if (let == config.architecture->lets.end()) return std::nullopt;
    if (depth == kDeepestLets) throw Error(let->where, name, "depends on itself");
    const Scope inner = [&](const std::string& other) { return find_value(config, layer, other, depth + 1); };
    // A value of a layer is none outside of layers.
    if (!has_value(let->value, inner)) return std::nullopt;
    return evaluate(let->value, inner, let->where);
}

}  // namespace

Scope ModelConfig::scope(std::optional<int64_t> layer) const {
    return [this, layer](const std::string& name) { return find_value(*this, layer, name, 0); };
}

Scalar ModelConfig::value(const std::string& name_, std::optional<int64_t> layer) const {
    return evaluate(name_term(name_), scope(layer), name());
}

int64_t ModelConfig::integer(const std::string& name_, std::optional<int64_t> layer) const {
    return integer_of(value(name_, layer), name());
}

double ModelConfig::real(const std::string& name_, std::optional<int64_t> layer) const {
    return number_of(value(name_, layer), name());
}

}  // namespace tessera::import
