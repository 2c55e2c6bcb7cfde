#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include "import/random_checkpoint.h"

/// The random checkpoints of tests/import/expected, whose logits transformers has computed.
namespace tessera::testing {

/// `source`: the root of the source tree.
nlohmann::json expected_variant(const std::filesystem::path& source, const std::string& name);
/// The tensors of a folder, by name.
std::map<std::string, NamedTensor> variant_tensors(const nlohmann::json& variant);
/// config.json and model.safetensors.
void write_variant_folder(const nlohmann::json& variant, const std::filesystem::path& folder);
/// A GGUF file before it is written: metadata behind "ARCH.", and tensors.
struct GgufForm {
    nlohmann::json metadata;
    std::map<std::string, NamedTensor> tensors;
};
/// @pre the variant has a form in GGUF
void write_variant_gguf(const nlohmann::json& variant, const std::filesystem::path& file,
                        const std::function<void(GgufForm&)>& change = {});

}  // namespace tessera::testing
