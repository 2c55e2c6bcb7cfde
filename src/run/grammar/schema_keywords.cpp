#include "run/grammar/schema_keywords.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "run/grammar/schema_formats.h"
#include "support/error.h"
#include "support/shown.h"

namespace tessera::grammar {
namespace {

/// Annotations of JSON Schema and, from `deprecated` on, of OpenAPI; the standard makes `contentEncoding` and
/// the like annotations.
constexpr std::array<std::string_view, 23> kRemarks = {
    "title",         "description", "default",       "examples",         "$schema",
    "$id",           "$comment",    "$defs",         "definitions",      "$anchor",
    "$vocabulary",   "readOnly",    "writeOnly",     "contentMediaType", "contentEncoding",
    "contentSchema", "deprecated",  "discriminator", "nullable",         "example",
    "externalDocs",  "xml",         "strict"};
constexpr std::array<std::string_view, 4> kCombining = {"$ref", "allOf", "anyOf", "oneOf"};
constexpr std::array<std::string_view, 25> kFollowed = {"type",
                                                        "enum",
                                                        "const",
                                                        "properties",
                                                        "required",
                                                        "additionalProperties",
                                                        "patternProperties",
                                                        "propertyNames",
                                                        "minProperties",
                                                        "maxProperties",
                                                        "items",
                                                        "prefixItems",
                                                        "minItems",
                                                        "maxItems",
                                                        "minLength",
                                                        "maxLength",
                                                        "pattern",
                                                        "format",
                                                        "minimum",
                                                        "maximum",
                                                        "exclusiveMinimum",
                                                        "exclusiveMaximum",
                                                        "multipleOf",
                                                        "uniqueItems",
                                                        "unevaluatedProperties"};

template <typename List>
bool is_among(const List& list, std::string_view text) {
    return std::find(list.begin(), list.end(), text) != list.end();
}

}  // namespace

KeywordUse use_of_keyword(std::string_view keyword, const SchemaValue& value, const std::string& where) {
    const auto fail = [&](const std::string& problem, const std::string& advice) {
        throw Error(where, shown(value.place), problem, advice);
    };
    if (is_among(kRemarks, keyword) || keyword.starts_with("x-")) return KeywordUse::kRemark;
    if (is_among(kCombining, keyword)) return KeywordUse::kCombines;
    if (keyword == "format" && !(value.is(SchemaValue::Kind::kText) && find_format(value.text)))
        fail(fmt::format("the format {} is not supported", shown(value.json())),
             "leave it out, and check the text afterwards");
    if (keyword == "uniqueItems" && !value.is_false())
        fail("is not supported: a grammar does not compare items", "leave it out");
    if (keyword == "unevaluatedProperties" && !value.is_false() && !value.is_true())
        fail("is supported as true or false alone", "write additionalProperties");
    if (!is_among(kFollowed, keyword))
        fail("is not supported, and would be ignored", "leave it out, or write the whole as a grammar");
    return KeywordUse::kFollowed;
}

}  // namespace tessera::grammar
