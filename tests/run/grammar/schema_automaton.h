#pragma once

#include <memory>
#include <string>

#include "run/grammar/json_schema.h"
#include "tessera/error.h"

namespace tessera::grammar {

inline std::shared_ptr<const Automaton> schema_automaton(const std::string& schema) {
    return std::make_shared<const Automaton>(compile(parse_schema(schema, "s.json")));
}

/// Why a schema is refused.
inline std::string schema_message(const std::string& schema) {
    try {
        compile(parse_schema(schema, "s.json"));
    } catch (const Error& error) {
        return error.what();
    }
    return "is fine";
}

}  // namespace tessera::grammar
