#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "run/grammar/accepts.h"
#include "run/grammar/schema_automaton.h"

// Limits on the size of a schema, and of what is made of it.
namespace tessera::grammar {
namespace {

/// Schemas of requests, however nested or wide, take no stack and little time.
TEST(JsonSchema, IsBoundedHoweverItIsWritten) {
    std::string chain = R"({"$ref": "#/$defs/d0", "$defs": {)";
    for (int i = 0; i < 8000; ++i)
        chain += "\"d" + std::to_string(i) + R"(": {"$ref": "#/$defs/d)" + std::to_string(i + 1) + "\"}, ";
    EXPECT_TRUE(accepts(schema_automaton(chain + R"("d8000": {"const": 1}}})"), "1"));

    std::string wide = R"({"type": "object", "required": [)", properties;
    for (int i = 0; i < 40; ++i) {
        const std::string name = "\"p" + std::to_string(i) + "\"";
        wide += (i > 0 ? ", " : "") + name;
        properties += (i > 0 ? ", " : "") + name + R"(: {"$ref": "#/$defs/a"})";
    }
    wide += R"(], "properties": {)" + properties + "}}";
    EXPECT_NE(schema_message(R"({"oneOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}], "$defs": {"a": )" +
                             wide + R"(, "b": )" + wide + "}}")
                  .find("might"),
              std::string::npos);
    std::string branches;
    for (int i = 0; i < 3000; ++i)
        branches += (i > 0 ? ", " : "") + std::string(R"({"const": )") + std::to_string(i) + "}";
    EXPECT_EQ(schema_message(R"({"oneOf": [)" + branches + "]}"),
              "s.json: `oneOf`: has too many branches to tell whether two might hold (write anyOf)");
}

TEST(JsonSchema, EndsWhateverLeadsBack) {
    for (
        const char* schema :
        {R"({"enum": [[1]], "items": {"$ref": "#/$defs/a"}, "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}]}}})",
         R"({"anyOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}})",
         R"({"$ref": "#/$defs/a", "type": "null", "$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}]}}})"})
        EXPECT_NE(schema_message(schema).find("leads back to itself"), std::string::npos) << schema;
    std::string doubling = R"({"enum": [[1]], "items": {"$ref": "#/$defs/d0"}, "$defs": {)";
    for (int i = 0; i < 60; ++i)
        doubling += fmt::format(
            R"("d{0}": {{"allOf": [{{"$ref": "#/$defs/d{1}"}}, {{"$ref": "#/$defs/d{1}"}}]}}, )", i, i + 1);
    EXPECT_NE(schema_message(doubling + R"("d60": {"type": "integer"}}})").find("too much work"),
              std::string::npos);
}

/// One pattern may be dear, but not each of many.
TEST(JsonSchema, BoundsAllPatternsTogether) {
    std::string schema = R"({"type": "object", "properties": {)";
    for (int i = 0; i < 300; ++i)
        schema += fmt::format(R"({}"p{}": {{"type": "string", "pattern": "(a|b)*a(a|b){{9}}{}"}})",
                              i > 0 ? ", " : "", i, i);
    EXPECT_NE(schema_message(schema + "}}").find("too m"), std::string::npos);
    EXPECT_EQ(
        schema_message(R"({"type": "string", "pattern": "^(a|b)*a(a|b){24}$"})"),
        "s.json: `pattern`: the pattern takes too many states (write it with smaller counts and fewer `.*`)");
}

/// Optional members one after the other must not double the rules.
TEST(JsonSchema, StaysSmallWithManyMembers) {
    std::string schema = R"({"type": "object", "properties": {)";
    for (int i = 0; i < 300; ++i)
        schema += (i > 0 ? ", " : "") + std::string("\"p") + std::to_string(i) + R"(": {"type": "string"})";
    const auto automaton = schema_automaton(schema + "}}");
    EXPECT_LT(automaton->states.size(), 20'000u);
    EXPECT_TRUE(accepts(automaton, R"({"p7": "x", "p299": ""})"));
    EXPECT_FALSE(accepts(automaton, R"({"p8": "x", "p7": ""})"));
}

}  // namespace
}  // namespace tessera::grammar
