#pragma once

#include <string>
#include <vector>

/// Small valid files of every binary kind, made here so that none has to be shipped.
namespace tessera::fuzz {

std::vector<std::string> safetensors_seeds();
/// Models, and a vocabulary alone with one value of every type of metadata.
std::vector<std::string> gguf_seeds();
/// The two parts of a model.
std::vector<std::string> gguf_part_seeds();
std::vector<std::string> config_seeds();
/// An artefact without code that would run.
std::vector<std::string> artefact_seeds();
std::string manifest_seed();
/// tokenizer.json with every kind of component that is known.
std::vector<std::string> tokenizer_json_seeds();
/// The whole text of a file of this repository.
std::string repository_file(const std::string& path);
std::vector<std::string> repository_files(const std::string& folder, const std::string& extension);

}  // namespace tessera::fuzz
