#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "ir/definition.h"

namespace tessera::facts {

/// work, touched, depends, tiles, packs and units by enumeration of every iteration, in the zoo's schema.
/// Slow, and without any reasoning about maps; shares no code with src/ir/facts.
nlohmann::json brute_force_facts(const DefinitionFile& file, const std::string& where);

}  // namespace tessera::facts
