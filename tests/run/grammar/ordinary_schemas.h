#pragma once

#include <string>
#include <vector>

namespace tessera::grammar {

/// A schema as pydantic, OpenAPI and people write it (ordinary_schemas.jsonl).
struct OrdinarySchema {
    std::string schema;
    std::vector<std::string> valid;    ///< values as JSON without blanks, which the grammar takes
    std::vector<std::string> invalid;  ///< which it does not
    std::string refused;               ///< the keyword for which it is refused; empty: it is followed
};

std::vector<OrdinarySchema> ordinary_schemas();

}  // namespace tessera::grammar
