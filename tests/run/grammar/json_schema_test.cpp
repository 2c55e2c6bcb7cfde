#include "run/grammar/json_schema.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "run/grammar/accepts.h"
#include "run/grammar/schema_automaton.h"

namespace tessera::grammar {
namespace {

void expect_texts(const std::string& schema, const std::vector<std::string>& valid,
                  const std::vector<std::string>& others) {
    const auto automaton = schema_automaton(schema);
    for (const std::string& text : valid) EXPECT_TRUE(accepts(automaton, text)) << schema << " " << text;
    for (const std::string& text : others) EXPECT_FALSE(accepts(automaton, text)) << schema << " " << text;
}

TEST(JsonSchema, OfSimpleTypes) {
    expect_texts(R"({"type": "null"})", {"null"}, {"true", "nul", "", " null"});
    expect_texts(R"({"type": "boolean"})", {"true", "false"}, {"null", "True"});
    expect_texts(R"({"type": "number"})", {"0", "-1.50", "12e+9", "1E-99", "1234567890123456.5"},
                 {"01", "+1", ".5", "1.", "1e", "12345678901234567", "-"});
    expect_texts(R"({"type": "integer"})", {"0", "-17", "9999999999999999"}, {"1.0", "1e2", "00", "x"});
    expect_texts(R"({"type": ["string", "null"]})", {"null", R"("")"}, {"1"});
    expect_texts(R"({})", {"1", R"({"a": [1, {"b": null}], "c": ""})", "[]", "[\n  1,\n  2\n]", "{ }"},
                 {"[1,]", "{1: 2}", "[1 2]", R"({"a": })"});
    expect_texts("true", {"[true, false]"}, {""});
}

TEST(JsonSchema, OfStrings) {
    expect_texts(R"({"type": "string"})",
                 {R"("a\n\u00e9é🦙\"")", R"("\ud83e\udd99")", R"("\uD7ff\uE000")", "\"\x7f\""},
                 {R"("\ud83e")", R"("\udd99\ud83e")", R"("\x41")", "\"\n\"", "\"\xff\"", R"("a)", R"(""")"});
    expect_texts(R"({"minLength": 2, "maxLength": 3})",
                 {R"("ab")", R"("é🦙\n")", R"("\ud83e\udd99\u0041")"},
                 {R"("a")", R"("abcd")", R"("🦙")"});
    const std::string long_text(2000, 'x');
    expect_texts(R"({"type": "string", "maxLength": 2000})", {'"' + long_text + '"', R"("\u0041")"},
                 {'"' + long_text + "x\""});
}

TEST(JsonSchema, OfFixedValues) {
    expect_texts(R"({"enum": ["a\"é", 1.5, null, [1, {"x": true}], {}]})",
                 {R"("a\"é")", "1.5", "null", R"([1, {"x": true}])", R"([1,{"x":true}])", "{}"},
                 {"1", "[]", "true"});
    expect_texts(R"({"const": null})", {"null"}, {"0"});
    expect_texts(R"({"type": "integer", "enum": [1, "1", 2.5]})", {"1"}, {R"("1")", "2.5"});
    EXPECT_EQ(schema_message(R"({"type": "string", "enum": [1]})"),
              "s.json: `enum`: has no value that the rest of the schema allows");
    expect_texts(R"({"enum": ["abc", "abcd", 7, null], "minLength": 4})", {R"("abcd")", "7"}, {R"("abc")"});
    expect_texts(R"({"enum": [1, 2.5, 3, 10], "type": "integer", "minimum": 2, "multipleOf": 5})", {"10"},
                 {"1", "3", "2.5"});
    expect_texts(R"({"enum": [[1], [1, "a"], []], "items": {"type": "integer"}, "minItems": 1})", {"[1]"},
                 {R"([1, "a"])", "[]"});
    expect_texts(R"({"enum": [{"a": 1}, {"b": 1}, {"a": "x"}], "properties": {"a": {"type": "integer"}},
                     "required": ["a"]})",
                 {R"({"a": 1})"}, {R"({"b": 1})", R"({"a": "x"})"});
}

TEST(JsonSchema, OfObjects) {
    const std::string two =
        R"({"type": "object", "properties": {"b": {"type": "integer"}, "a": {"type": "null"}}, )";
    expect_texts(two + R"("required": ["b", "a"]})",
                 {R"({"b": 1, "a": null})", R"({"b":1,"a":null})", "{\n  \"b\": 1,\n  \"a\": null\n}"},
                 {R"({"a": null, "b": 1})", R"({"b": 1})", R"({"b": 1, "a": null,})",
                  R"({"b": 1, "a": null, "c": 1})", "{}"});
    expect_texts(two + R"("required": ["a"]})", {R"({"a": null})", R"({"b": 2, "a": null})"},
                 {R"({"b": 2})", "{}", R"({,"a": null})"});
    expect_texts(two.substr(0, two.size() - 2) + "}",
                 {"{}", R"({"b": 2})", R"({"a": null})", R"({"b": 2, "a": null})"},
                 {R"({"a": null, "b": 2})", R"({"b": 2,})"});
    expect_texts(two + R"("additionalProperties": {"type": "boolean"}})",
                 {"{}", R"({"b": 2, "c": true, "ab": false})", R"({"": true})", R"({"a": null, "\"": true})"},
                 {R"({"a": true})", R"({"c": 1})", R"({"\u0061": true})", R"({"c": true, "a": null})"});
    expect_texts(R"({"type": "object", "required": ["x", "y"]})", {R"({"x": 1, "y": [], "z": 2})"},
                 {R"({"x": 1})"});
    expect_texts(R"({"type": "object"})", {"{}", R"({"a": {}})"}, {"[]"});
    expect_texts(R"({"properties": {}, "additionalProperties": false})", {"{}", "{ }"}, {R"({"a": 1})"});
}

TEST(JsonSchema, KeepsOtherNamesApart) {
    expect_texts(
        R"({"properties": {"a": {"type": "null"}, "abc": {"type": "null"}, "é\"\\": {"type": "null"}}, "additionalProperties": {"type": "integer"}})",
        {R"({"ab": 1})", R"({"abcd": 1})", R"({"b": 1})", R"({"": 1})", R"({"è": 1})", R"({"é": 1})",
         R"({"é\"": 1})", R"({"\\": 1})", R"({"é\"\\": null})"},
        {R"({"a": 1})", R"({"abc": 1})", R"({"é\"\\": 1})", R"({"\u0061": 1})"});
}

TEST(JsonSchema, OfArrays) {
    expect_texts(R"({"items": {"type": "integer"}})", {"[]", "[1]", "[1, 2, 3]", "[ ]"},
                 {"[1,]", "[a]", "[,1]"});
    expect_texts(R"({"items": {"type": "integer"}, "minItems": 2, "maxItems": 3})", {"[1, 2]", "[1,2,3]"},
                 {"[1]", "[]", "[1,2,3,4]"});
    expect_texts(R"({"type": "array", "maxItems": 0})", {"[]"}, {"[1]"});
    expect_texts(R"({"prefixItems": [{"type": "null"}, {"type": "boolean"}]})", {"[null, true]"},
                 {"[null]", "[null, true, 1]"});
    expect_texts(
        R"({"prefixItems": [{"type": "null"}], "items": {"const": 1}, "minItems": 2, "maxItems": 3})",
        {"[null, 1]", "[null, 1, 1]"}, {"[null]", "[null, 1, 1, 1]"});
    expect_texts(R"({"prefixItems": [{"type": "null"}, {"type": "null"}], "maxItems": 1})", {"[null]"},
                 {"[null, null]", "[]"});
    expect_texts(R"({"type": "array", "minItems": 1})", {"[[]]"}, {"[]"});
}

TEST(JsonSchema, OfIntegersInARange) {
    for (const auto& [low, high] : std::vector<std::pair<int, int>>{{0, 0},
                                                                    {1, 9},
                                                                    {7, 123},
                                                                    {138, 275},
                                                                    {99, 100},
                                                                    {-5, 5},
                                                                    {-123, -7},
                                                                    {-1000, 999},
                                                                    {200, 299},
                                                                    {0, 1000}}) {
        const auto automaton =
            schema_automaton("{\"type\": \"integer\", \"minimum\": " + std::to_string(low) +
                             ", \"exclusiveMaximum\": " + std::to_string(high + 1) + "}");
        for (int i = -1300; i <= 1300; ++i)
            ASSERT_EQ(accepts(automaton, std::to_string(i)), low <= i && i <= high)
                << low << " " << high << " " << i;
        EXPECT_FALSE(accepts(automaton, "-0"));
        EXPECT_FALSE(accepts(automaton, "007"));
    }
    expect_texts(R"({"type": "integer", "minimum": 3.5})", {"4", "9999999999999999"},
                 {"3", "-4", "10000000000000000"});
    expect_texts(R"({"type": "integer", "exclusiveMaximum": -1.0, "minimum": -1e300})",
                 {"-2", "-9999999999999999"}, {"-1", "0"});
    expect_texts(R"({"type": "integer", "minimum": 0, "exclusiveMinimum": true, "maximum": 2})", {"1", "2"},
                 {"0", "3"});
    expect_texts(R"({"type": "integer", "format": "int32", "minimum": 2147483640})", {"2147483647"},
                 {"2147483648", "2147483639"});
    expect_texts(R"({"type": "integer", "multipleOf": 7, "minimum": -30})", {"0", "-28", "7", "70", "700007"},
                 {"1", "-35", "-27", "71"});
    EXPECT_EQ(schema_message(R"({"type": "integer", "minimum": 2, "maximum": 1})"),
              "s.json: allows no integer (none of up to 16 digits before the point is within its bounds)");
    EXPECT_EQ(schema_message(R"({"type": "integer", "minimum": 1e300})"),
              "s.json: allows no integer (none of up to 16 digits before the point is within its bounds)");
    EXPECT_EQ(schema_message(R"({"type": "integer", "multipleOf": 123456})"),
              "s.json: `multipleOf`: takes too many states (write one of up to four digits)");
}

TEST(JsonSchema, OfNumbersInARange) {
    expect_texts(R"({"type": "number", "minimum": 0})",
                 {"0", "0.0", "19.99", "1e-07", "1.5e-7", "1e+16", "2.5e+22", "9999999999999999.5"},
                 {"-1", "-0.1", "-0", "01", "1.", "12e+16", "1e+3", "0e-05"});
    expect_texts(R"({"type": "number", "exclusiveMinimum": 0, "maximum": 1})",
                 {"1", "1.0", "0.5", "0.0000000000000001", "1e-05"},
                 {"0", "0.0", "1.0000000000000002", "1.1"});
    // A number that a reader would round to the bound is not below it.
    expect_texts(R"({"type": "number", "exclusiveMaximum": 1})", {"0.9999999999999999", "-5e+20"},
                 {"0.99999999999999999999", "1"});
    expect_texts(R"({"minimum": -273.15, "maximum": -0.5})", {"-273.15", "-0.5", "-1", "-100.0"},
                 {"-273.16", "-0.49", "0", "-1e-05"});
    expect_texts(R"({"type": "number", "multipleOf": 0.01, "minimum": 0})", {"19.99", "0.1", "7", "7.000"},
                 {"19.999", "0.001", "-1"});
    expect_texts(R"({"type": "number", "multipleOf": 2.5})", {"2.5", "-5", "7.50", "0"}, {"1", "2", "2.55"});
}

TEST(JsonSchema, OfPatternsAndFormats) {
    expect_texts(R"({"type": "string", "pattern": "^[A-Z]{3}$"})", {R"("ABC")"},
                 {R"("ABCD")", R"("abc")", "1"});
    expect_texts(R"({"pattern": "b+", "maxLength": 3})", {R"("b")", R"("abb")", R"("\"b\n")"},
                 {R"("")", R"("aaa")", R"("abbb")"});
    expect_texts(R"({"type": "string", "pattern": "^\\d+$", "minLength": 2, "enum": ["1", "12", "ab"]})",
                 {R"("12")"}, {R"("1")", R"("ab")"});
    expect_texts(R"({"type": "string", "format": "date"})", {R"("2024-02-29")", R"("1999-12-31")"},
                 {R"("2023-02-29")", R"("1900-02-29")", R"("0000-01-01")", R"("2024-04-31")"});
    expect_texts(R"({"type": "string", "format": "date-time"})",
                 {R"("2024-02-29T23:59:59Z")", R"("2024-01-01T00:00:00.123456+02:00")"},
                 {R"("2024-01-01T24:00:00Z")", R"("2024-01-01 00:00:00Z")", R"("2024-01-01T00:00:00")"});
    expect_texts(R"({"type": "string", "format": "uuid"})", {R"("123e4567-e89b-12d3-a456-426614174000")"},
                 {R"("123e4567e89b12d3a456426614174000")"});
    expect_texts(R"({"type": "string", "format": "ipv6"})",
                 {R"("::")", R"("1::8")", R"("1:2:3:4:5:6:7:8")", R"("1:2::")"},
                 {R"("1:2:3")", R"("1::2::3")", R"("1:2:3:4:5:6:7:8:9")", R"("12345::")"});
    expect_texts(R"({"type": "string", "format": "uri", "minLength": 1, "maxLength": 2083})",
                 {R"("https://example.org/a?b=c#d")", R"("mailto:a@b.org")"},
                 {R"("example")", R"("http:///")"});
    expect_texts(R"({"type": "string", "format": "password", "minLength": 2})", {R"("ab")"}, {R"("a")"});
    EXPECT_EQ(schema_message(R"({"type": "string", "pattern": "^a$", "minLength": 2})"),
              "s.json: has no text of that pattern, format and length");
    EXPECT_EQ(schema_message(R"({"type": "string", "pattern": "(a"})"),
              "s.json: `pattern`: at character 3 the pattern has a ( without its )");
}

TEST(JsonSchema, JoinsWhatStandsBesideEachOther) {
    expect_texts(
        R"({"allOf": [{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
                               {"properties": {"b": {"type": "string"}, "a": {"minimum": 3}}, "required": ["b"]}]})",
        {R"({"a": 3, "b": ""})"}, {R"({"a": 2, "b": ""})", R"({"a": 3})"});
    expect_texts(
        R"({"$ref": "#/$defs/a", "maximum": 5, "description": "d", "$defs": {"a": {"type": "integer"}}})",
        {"5"}, {"6", "1.5"});
    expect_texts(R"({"type": "object", "properties": {"a": {"type": "null"}, "b": {"type": "null"}},
                     "anyOf": [{"required": ["a"]}, {"required": ["b"]}]})",
                 {R"({"a": null})", R"({"b": null})", R"({"a": null, "b": null})"}, {"{}"});
    expect_texts(R"({"type": "object", "properties": {"a": {"type": "null"}, "b": {"type": "null"}},
                     "oneOf": [{"required": ["a"]}, {"required": ["b"]}]})",
                 {R"({"a": null})", R"({"b": null})"}, {"{}", R"({"a": null, "b": null})"});
    expect_texts(R"({"type": ["string", "null"], "anyOf": [{"maxLength": 1}, {"pattern": "^xyz$"}]})",
                 {"null", R"("a")", R"("xyz")"}, {R"("ab")", "1"});
    // A schema that holds itself beside something else.
    expect_texts(
        R"({"$ref": "#/$defs/n", "$defs": {"n": {"type": "object", "properties": {"v": {"type": "integer"},
                     "n": {"allOf": [{"$ref": "#/$defs/n"}, {"required": ["v"]}]}}}}})",
        {R"({"n": {"v": 1}})", R"({"v": 1, "n": {"v": 2, "n": {"v": 3}}})"},
        {R"({"n": {}})", R"({"n": {"v": 1, "n": {}}})"});
    EXPECT_EQ(schema_message(R"({"allOf": [{"type": "integer"}, {"type": "string"}]})"),
              "s.json: `root`: allows no text at all (give its recursion an end)");
    EXPECT_EQ(schema_message(R"({"allOf": [{"$ref": "#"}], "type": "null"})"),
              "s.json: leads back to itself (give its recursion an end)");
}

TEST(JsonSchema, OfMembersByTheirNames) {
    expect_texts(
        R"({"type": "object", "patternProperties": {"^x-": {"type": "integer"}}, "additionalProperties": false})",
        {"{}", R"({"x-a": 1, "x-": 2})"}, {R"({"a": 1})", R"({"x-a": "b"})"});
    expect_texts(
        R"({"properties": {"ab": {"type": "integer"}}, "patternProperties": {"^a": {"minimum": 3}, "b$": {"maximum": 5}},
                     "additionalProperties": {"type": "null"}})",
        {R"({"ab": 4})", R"({"c": null, "ax": 9, "axb": 4, "xb": 1})"},
        {R"({"ab": 2})", R"({"ab": 3.5})", R"({"axb": 6})", R"({"c": 1})"});
    expect_texts(
        R"({"type": "object", "propertyNames": {"pattern": "^[a-z]+$", "maxLength": 2}, "additionalProperties": {"type": "integer"}})",
        {R"({"ab": 1})"}, {R"({"abc": 1})", R"({"A": 1})"});
    expect_texts(R"({"type": "object", "minProperties": 1, "additionalProperties": {"type": "integer"}})",
                 {R"({"a": 1})"}, {"{}"});
    expect_texts(
        R"({"type": "object", "properties": {"a": {"const": 1}, "b": {"const": 1}, "c": {"const": 1}}, "minProperties": 2, "maxProperties": 2})",
        {R"({"a": 1, "c": 1})", R"({"b": 1, "c": 1})"}, {"{}", R"({"a": 1})", R"({"a": 1, "b": 1, "c": 1})"});
    // Names that a text may repeat are one member.
    EXPECT_NE(schema_message(R"({"type": "object", "minProperties": 2, "additionalProperties": true})"),
              "is fine");
}

TEST(JsonSchema, TakesRemarks) {
    expect_texts(
        R"({"type": "integer", "nullable": true, "example": 3, "x-unit": "s", "deprecated": true, "xml": {}})",
        {"1"}, {"null"});
    expect_texts(
        R"({"oneOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}], "discriminator": {"propertyName": "t"},
                     "$defs": {"A": {"type": "object", "properties": {"t": {"const": "a"}}, "required": ["t"]},
                               "B": {"type": "object", "properties": {"t": {"const": "b"}}, "required": ["t"]}}})",
        {R"({"t": "a"})", R"({"t": "b"})"}, {"{}", R"({"t": "c"})"});
}

TEST(JsonSchema, FollowsReferences) {
    expect_texts(R"({"$ref": "#/$defs/tree", "$defs": {"tree": {"type": "object", "properties":
               {"v": {"type": "integer"}, "next": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}, "required": ["v"]}}})",
                 {R"({"v": 1})", R"({"v": 1, "next": [{"v": 2, "next": []}, {"v": 3}]})"},
                 {R"({"v": 1, "next": [{}]})"});
    expect_texts(R"({"anyOf": [{"type": "null"}, {"type": "array", "items": {"$ref": "#"}}]})",
                 {"[[], null, [[]]]"}, {"[1]"});
    expect_texts(R"({"allOf": [{"$ref": "#/definitions/a~1b~0"}], "definitions": {"a/b~": {"const": 1}}})",
                 {"1"}, {"2"});
    EXPECT_EQ(schema_message(R"({"$ref": "#/$defs/x"})"),
              "s.json: `$ref`: refers to #/$defs/x, which is not there (write #/$defs/NAME, and the schema "
              "under $defs)");
    EXPECT_EQ(
        schema_message(R"({"$ref": "http://x.org/y"})"),
        "s.json: `$ref`: refers to http://x.org/y, outside of this schema (copy it into $defs, and refer to "
        "#/$defs/NAME)");
    EXPECT_EQ(schema_message(R"({"$ref": "#"})"), "s.json: leads back to itself (give its recursion an end)");
    EXPECT_NE(schema_message(R"({"anyOf": [{"$ref": "#"}, {"type": "null"}]})").find("calls itself"),
              std::string::npos);
}

TEST(JsonSchema, ChoosesBranches) {
    expect_texts(R"({"anyOf": [{"type": "integer"}, {"type": "string", "maxLength": 1}, false]})",
                 {"12", R"("a")"}, {R"("ab")", "null"});
    expect_texts(
        R"({"oneOf": [{"type": "object", "properties": {"kind": {"const": "a"}, "x": {"type": "null"}}, "required": ["kind", "x"]},
                         {"$ref": "#/$defs/b"}], "$defs": {"b": {"type": "object", "properties": {"kind": {"enum": ["b", "c"]}}, "required": ["kind"]}}})",
        {R"({"kind": "a", "x": null})", R"({"kind": "c"})"}, {R"({"kind": "a"})"});
    expect_texts(R"({"oneOf": [{"type": "string"}, {"type": "integer"}]})", {"1", R"("")"}, {"1.5"});
    EXPECT_EQ(schema_message(R"({"oneOf": [{"type": "number"}, {"type": "integer"}]})"),
              "s.json: `oneOf`: branches 0 and 1 might both hold, and only one may (write anyOf, or require "
              "a property "
              "with another `const` in each branch)");
    expect_texts(R"({"type": "object", "anyOf": [{}]})", {"{}"}, {"1"});
    EXPECT_EQ(schema_message(R"({"anyOf": [false]})"), "s.json: `anyOf`: allows nothing");
}

TEST(JsonSchema, RefusesWhatItWouldIgnore) {
    const auto in_property = [](const std::string& schema) {
        return schema_message(R"({"properties": {"a": )" + schema + "}}");
    };
    EXPECT_EQ(
        in_property(R"({"type": "string", "pattern": "(a)\\1"})"),
        "s.json: `properties.a.pattern`: at character 5 the pattern refers back to a group, which is not "
        "supported (leave it out, or write the whole as a grammar (--grammar))");
    EXPECT_EQ(
        in_property(R"({"type": "string", "format": "phone"})"),
        "s.json: `properties.a.format`: the format \"phone\" is not supported (leave it out, and check the "
        "text afterwards)");
    for (const char* keyword :
         {"not", "if", "then", "contains", "dependentRequired", "dependencies", "minContains"})
        EXPECT_EQ(
            in_property("{\"" + std::string(keyword) + "\": {}}"),
            "s.json: `properties.a." + std::string(keyword) +
                "`: is not supported, and would be ignored (leave it out, or write the whole as a grammar)");
    EXPECT_EQ(in_property(R"({"type": "array", "uniqueItems": true})"),
              "s.json: `properties.a.uniqueItems`: is not supported: a grammar does not compare items (leave "
              "it out)");
    EXPECT_EQ(in_property(R"({"type": "text"})"),
              "s.json: `properties.a.type`: is \"text\", expected object, array, string, number, integer, "
              "boolean or "
              "null");
    EXPECT_EQ(in_property(R"({"minLength": 1e9})"),
              "s.json: `properties.a.minLength`: is 1000000000, expected an integer from 0 to 10000");
    EXPECT_EQ(in_property(R"({"minLength": -1})"),
              "s.json: `properties.a.minLength`: is -1, expected an integer from 0 to 10000");
    EXPECT_EQ(in_property("3"), "s.json: `properties.a`: is 3, expected a schema");
    EXPECT_EQ(in_property(R"({"title": "T", "description": "d", "default": 1, "type": "integer"})"),
              "is fine");
    EXPECT_EQ(schema_message(R"({"items": [{}]})"),
              "s.json: `items`: is a list, expected a schema (write prefixItems)");
    EXPECT_EQ(schema_message("{"), schema_message("{"));
    EXPECT_NE(schema_message(R"({"a": 1, "a": 2})").find("twice"), std::string::npos);
}

}  // namespace
}  // namespace tessera::grammar
