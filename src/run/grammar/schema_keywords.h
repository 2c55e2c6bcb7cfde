#pragma once

#include <string>
#include <string_view>

#include "run/grammar/schema_value.h"

namespace tessera::grammar {

/// The use that the reader makes of a keyword of a schema.
enum class KeywordUse {
    kRemark,    ///< does not restrict values
    kCombines,  ///< `$ref`, `allOf`, `anyOf`, `oneOf`
    kFollowed   ///< restricts the values of a type, or lists them
};

/// @throws Error naming `where` and the place for a keyword, or a value of it, that a grammar cannot follow:
/// it must not be ignored
KeywordUse use_of_keyword(std::string_view keyword, const SchemaValue& value, const std::string& where);

}  // namespace tessera::grammar
