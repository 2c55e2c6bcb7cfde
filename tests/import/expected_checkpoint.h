#pragma once

#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

/// The random checkpoints of tests/import/expected, whose logits transformers has computed.
namespace tessera::testing {

/// `source`: the root of the source tree.
nlohmann::json expected_variant(const std::filesystem::path& source, const std::string& name);
/// config.json and model.safetensors.
void write_variant_folder(const nlohmann::json& variant, const std::filesystem::path& folder);
/// @pre the variant has a form in GGUF
void write_variant_gguf(const nlohmann::json& variant, const std::filesystem::path& file);

}  // namespace tessera::testing
