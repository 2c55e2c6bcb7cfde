#include "import/models/architecture.h"

#include <array>
#include <vector>

#include <fmt/ranges.h>

namespace tessera::import {
namespace {

std::string_view name_in_gguf(const Architecture& architecture) {
    return architecture.gguf_name.empty() ? architecture.name : architecture.gguf_name;
}

}  // namespace

std::span<const Architecture* const> architectures() {
    static const std::array all = {
        &llama_architecture(),     &mistral_architecture(), &qwen2_architecture(),  &qwen3_architecture(),
        &qwen3_moe_architecture(), &mixtral_architecture(), &gemma2_architecture(), &gemma3_architecture(),
        &phi3_architecture(),      &smollm3_architecture(), &olmo2_architecture(),  &opt_architecture(),
        &gpt2_architecture()};
    return all;
}

const Architecture* find_architecture(std::string_view name) {
    for (const Architecture* architecture : architectures())
        if (architecture->name == name) return architecture;
    return nullptr;
}

const Architecture* find_gguf_architecture(std::string_view name) {
    for (const Architecture* architecture : architectures())
        if (architecture->has_gguf && name_in_gguf(*architecture) == name) return architecture;
    return nullptr;
}

std::string known_architectures() {
    std::vector<std::string_view> names;
    for (const Architecture* architecture : architectures()) names.push_back(architecture->name);
    return fmt::to_string(fmt::join(names, ", "));
}

std::string known_gguf_architectures() {
    std::vector<std::string_view> names;
    for (const Architecture* architecture : architectures())
        if (architecture->has_gguf) names.push_back(name_in_gguf(*architecture));
    return fmt::to_string(fmt::join(names, ", "));
}

}  // namespace tessera::import
