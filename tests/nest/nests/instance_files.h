#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace tessera::nests {

/// tests/nest/nests/instances: nests and spaces of the project's own, each with the facts that the oracle of
/// nests gave for it, which walks trip by trip and shares no code with the derivation.
std::filesystem::path own_instances();

/// The files of a folder with this extension, sorted.
std::vector<std::filesystem::path> instances_in(const std::filesystem::path& folder,
                                                const std::string& extension);
std::string read_text(const std::filesystem::path& file);
nlohmann::json read_json(const std::filesystem::path& file);

/// The facts that Tessera derives of a `.nest` or `.space` file.
nlohmann::json facts_of(const std::filesystem::path& file);

/// The places at which facts differ, by the rules of agreement: the order of `depends`, reasons and nests are
/// free, numbers with a fraction agree within 1e-9.
std::vector<std::string> differences(const nlohmann::json& got, const nlohmann::json& want);

}  // namespace tessera::nests
