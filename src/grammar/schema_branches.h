#pragma once

#include <cstdint>
#include <functional>

#include "grammar/schema_value.h"

namespace tessera::grammar {

/// The schema that a `$ref` leads to.
using ResolveReference = std::function<const SchemaValue&(const SchemaValue& schema)>;

/// Whether no value can be valid by both schemas. It is found by their types, by `const` and `enum`, and for
/// objects by a required property for which the same holds. False where that does not show it, and when
/// `work`, which counts down, is used up.
bool are_apart(const SchemaValue& a, const SchemaValue& b, const ResolveReference& resolve, int64_t& work);

/// Whether a value has one of the types that a schema names with `type`; true where it names none.
bool has_type(const SchemaValue& value, const SchemaValue& schema);

/// The values of `const` or `enum`; null where there is neither.
const SchemaValue* fixed_values(const SchemaValue& schema);

}  // namespace tessera::grammar
