#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "grammar/schema_value.h"

namespace tessera::grammar {

/// The schema that a `$ref` leads to.
using ResolveReference = std::function<const SchemaValue&(const SchemaValue& schema)>;

/// Whether no value can be valid by both schemas. It is found by their types, by `const` and `enum`, and for
/// objects by a required property for which the same holds. False where that does not show it, and when
/// `work`, which counts down, is used up.
bool are_apart(const SchemaValue& a, const SchemaValue& b, const ResolveReference& resolve, int64_t& work);

/// Whether a schema, by `type`, allows objects and nothing else.
bool is_object_alone(const SchemaValue* schema);

/// How the texts of one schema are kept from being valid by another one.
struct Separation {
    bool is_possible = false;
    std::optional<std::string> absent;  ///< by leaving this member out; none: they are invalid in any case
};
/// The other schema requires a member that the first one may leave out; or it allows only its own properties,
/// and the first one requires another. @param are_objects the texts of the first schema are objects, whatever
/// it says
Separation separate(const SchemaValue& schema, const SchemaValue& other, bool are_objects);
/// A schema of objects without the member.
SchemaValue without_member(const std::string& name, const std::string& place);

/// Whether a value has one of the types that a schema names with `type`; true where it names none.
bool has_type(const SchemaValue& value, const SchemaValue& schema);

/// The values of `const` or `enum`; null where there is neither.
const SchemaValue* fixed_values(const SchemaValue& schema);
/// Each of them.
std::vector<SchemaValue> listed_values(const SchemaValue& schema);

}  // namespace tessera::grammar
