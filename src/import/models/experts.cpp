#include "import/models/experts.h"

#include <fmt/core.h>

#include "support/error.h"

namespace tessera::import {
namespace {

using enum LayerTensor;

void stack_experts(DecoderConfig& config, const ExpertNames& names) {
    const auto add = [&](LayerTensor tensor, std::string_view name) {
        const size_t number = name.find('*');
        config.expert_stacks.push_back({tensor, std::string(name.substr(0, number)),
                                        std::string(name.substr(number + 1)), std::string(name)});
    };
    add(kExpertGate, names.gate);
    add(kExpertUp, names.up);
    add(kExpertDown, names.down);
}

}  // namespace

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

void name_folder_experts(DecoderConfig& config, const ExpertNames& names,
                         std::initializer_list<const char*> parents) {
    stack_experts(config, names);
    for (const auto& stack : config.expert_stacks) config.names[stack.tensor] = stack.name;
    const int64_t experts = config.size.experts;
    for (const std::string parent : parents) {
        config.stored_together.push_back(
            {parent + "experts.gate_up_proj", {kExpertGate, kExpertUp}, experts});
        config.stored_together.push_back({parent + "experts.down_proj", {kExpertDown}, experts});
    }
}

void read_gguf_shares(GgufReader& reader, DecoderConfig& config) {
    const std::string key = reader.key("norm_top_k_prob");
    config.form.shares_of_chosen = reader.settings.boolean(key, true);
    if (!config.form.shares_of_chosen)
        reader.settings.warn(key, "shares are of all experts, as ollama computes; llama.cpp ignores it");
}

void name_gguf_experts(DecoderConfig& config) {
    stack_experts(config, {"ffn_gate.*.weight", "ffn_up.*.weight", "ffn_down.*.weight"});
    const int64_t experts = config.size.experts;
    config.stored_together.push_back({"ffn_gate_exps.weight", {kExpertGate}, experts});
    config.stored_together.push_back({"ffn_up_exps.weight", {kExpertUp}, experts});
    config.stored_together.push_back({"ffn_gate_up_exps.weight", {kExpertGate, kExpertUp}, experts});
    config.stored_together.push_back({"ffn_down_exps.weight", {kExpertDown}, experts});
}

}  // namespace tessera::import
