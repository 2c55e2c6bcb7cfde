#include "import/models/experts.h"

#include <fmt/core.h>

#include "support/error.h"

namespace tessera::import {

void set_experts(DecoderConfig& config, int64_t experts, int64_t chosen, int64_t width,
                 const std::string& where, const std::string& field) {
    if (chosen < 1 || chosen > experts)
        throw Error(where, field,
                    fmt::format("is {}, expected 1 to {}, the number of experts", chosen, experts));
    config.size.experts = experts;
    config.size.experts_chosen = chosen;
    config.size.expert_width = width;
    config.set(Presence::kNever, {LayerTensor::kGate, LayerTensor::kUp, LayerTensor::kDown});
    config.set(Presence::kAlways, {LayerTensor::kRouter, LayerTensor::kExpertGate, LayerTensor::kExpertUp,
                                   LayerTensor::kExpertDown});
}

void stack_experts(DecoderConfig& config, const std::string& before, const std::string& gate,
                   const std::string& up, const std::string& down) {
    const auto stack = [&](LayerTensor tensor, const std::string& part) {
        config.names[tensor] = before + "*." + part + ".weight";
        config.expert_stacks.push_back({before, "." + part + ".weight", config.names[tensor]});
    };
    stack(LayerTensor::kExpertGate, gate);
    stack(LayerTensor::kExpertUp, up);
    stack(LayerTensor::kExpertDown, down);
}

}  // namespace tessera::import
