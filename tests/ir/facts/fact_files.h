#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace tessera::facts {

/// tests/ir/facts/definitions: definitions of the project's own, each with the facts that the zoo's oracle
/// (an enumeration of all iterations, which shares no code with the derivation) gave for it.
std::filesystem::path own_definitions();
/// The operator zoo beside the checkout; it need not be there.
std::filesystem::path zoo();

/// The .op files of a folder, sorted.
std::vector<std::filesystem::path> definitions_in(const std::filesystem::path& folder);
std::string read_text(const std::filesystem::path& file);
nlohmann::json read_json(const std::filesystem::path& file);

/// The facts of a definition's text, as JSON.
nlohmann::json facts_of(const std::string& text, const std::string& where, bool values);

/// The entries in which two sets of facts differ, as lines; by the zoo's rules of agreement (order of lists
/// that have none, tolerance of values). Facts that `want` does not hold are not compared.
std::vector<std::string> differences(const nlohmann::json& got, const nlohmann::json& want);

}  // namespace tessera::facts
