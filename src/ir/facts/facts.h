#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "ir/definition.h"
#include "ir/interpreter.h"

/// Derived facts of a definition in the zoo's schema. Everything follows from maps, predicate and body; no
/// operator is known by name. Each fact has a header of its own in this folder; this one puts them together.
namespace tessera::facts {

struct FactOptions {
    bool values = true;  ///< interpret the definition on its test contents too
};

/// All facts of a definition under its test setup, in the schema of the zoo (keys op, types, shapes, work,
/// touched, depends, tiles, sbp, linear, packs, units, values).
nlohmann::ordered_json derive_facts(const DefinitionFile& file, const FactOptions& options,
                                    const std::string& where);

/// As text, one line for each entry of each fact; ends with a line break.
std::string facts_text(const nlohmann::ordered_json& facts);

}  // namespace tessera::facts
