#include "import/models/architecture.h"

#include <array>

#include <fmt/core.h>

namespace tessera::import {

std::span<const Architecture* const> architectures() {
    static const std::array all = {&llama_architecture(), &qwen2_architecture(), &qwen3_architecture()};
    return all;
}

const Architecture* find_architecture(std::string_view name) {
    for (const Architecture* architecture : architectures())
        if (architecture->name == name) return architecture;
    return nullptr;
}

std::string known_architectures() {
    std::string known;
    for (const Architecture* architecture : architectures())
        known += fmt::format("{}{}", known.empty() ? "" : ", ", architecture->name);
    return known;
}

}  // namespace tessera::import
