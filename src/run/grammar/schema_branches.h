#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "run/grammar/schema_value.h"

namespace tessera::grammar {

/// The schema that a `$ref` leads to.
using ResolveReference = std::function<const SchemaValue&(const SchemaValue& schema)>;

/// True if no value can be valid by both schemas. That is found by their types, by `const` and `enum`, and
/// for objects by a required property for which the same holds. False if that does not show it, and when
/// `work`, which counts down, is used up.
bool are_apart(const SchemaValue& a, const SchemaValue& b, const ResolveReference& resolve, int64_t& work);

/// True if a schema, by `type`, allows only objects.
bool is_object_alone(const SchemaValue* schema);

/// The way to keep the texts of one schema from being valid by another one.
struct Separation {
    bool is_possible = false;
    std::optional<std::string> absent;  ///< by leaving this member out; none: they are invalid in any case
};
/// Possible if the other schema requires a member that the first one may leave out, or if it allows only its
/// own properties, and the first one requires another.
/// @param are_objects the texts of the first schema are objects, whatever it says
Separation separate(const SchemaValue& schema, const SchemaValue& other, bool are_objects);
/// A schema for objects without the member.
SchemaValue without_member(const std::string& name, const std::string& place);

/// True if a value has one of the types that a schema names with `type`, or if it names none.
bool has_type(const SchemaValue& value, const SchemaValue& schema);

/// The values of `const` or `enum`; null if there is neither.
const SchemaValue* fixed_values(const SchemaValue& schema);
/// Each of these values.
std::vector<SchemaValue> listed_values(const SchemaValue& schema);

}  // namespace tessera::grammar
