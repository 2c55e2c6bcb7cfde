#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/json_bounds.h"

namespace tessera::grammar {

/// A JSON value that keeps the order of its members and tells null from absent: both matter in a schema.
struct SchemaValue {
    enum class Kind { kNull, kBoolean, kInteger, kReal, kText, kList, kObject };

    Kind kind = Kind::kNull;
    std::string text;                ///< of a text; for others but lists and objects, the JSON
    std::vector<SchemaValue> items;  ///< of a list; of an object the values
    std::vector<std::string> keys;   ///< of an object
    std::string place;               ///< "properties.name.type"

    bool is(Kind wanted) const { return kind == wanted; }
    bool is_number() const { return is(Kind::kInteger) || is(Kind::kReal); }
    bool is_true() const { return is(Kind::kBoolean) && text == "true"; }
    bool is_false() const { return is(Kind::kBoolean) && text == "false"; }
    const SchemaValue* find(std::string_view key) const;  ///< of an object; null where there is none
    /// As JSON, without blanks; equal for equal values. @pre the order of members is the same
    std::string json() const;
};

/// The JSON text of a string.
std::string json_string(std::string_view text);

/// The bounds of a schema's document.
inline constexpr JsonBounds kSchemaBounds{
    .bytes = size_t{1} << 20, .values = 50'000, .depth = 64, .word = 100'000};

/// @throws Error naming `where`, with the position, for invalid JSON or beyond the bounds
SchemaValue parse_schema_value(std::string_view text, const std::string& where,
                               const JsonBounds& bounds = kSchemaBounds);

}  // namespace tessera::grammar
