#include "run/grammar/member_rules.h"

#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/grammar/accepts.h"
#include "run/grammar/automaton.h"
#include "support/error.h"

namespace tessera::grammar {
namespace {

MemberRules rules_of(const std::string& schema, const BareTexts& bare = {.mark = "</v>"}) {
    return member_rules(parse_schema_value(schema, "s.json"), "s.json", bare);
}

/// "t" or "j" for the ways in which the text may be the value of the first member.
std::string ways(const MemberRules& made, const std::string& text) {
    std::string found;
    const auto look = [&](std::optional<RuleId> rule, const char* name) {
        if (!rule) return;
        RuleSet rules = made.rules;
        rules.root = *rule;
        if (accepts(std::make_shared<const Automaton>(compile(rules)), text)) found += name;
    };
    look(made.members.at(0).text, "t");
    look(made.members.at(0).json, "j");
    return found;
}

std::string ways(const std::string& member, const std::string& text,
                 const BareTexts& bare = {.mark = "</v>"}) {
    return ways(rules_of(R"({"type": "object", "properties": {"m": )" + member + "}}", bare), text);
}

TEST(MemberRules, StringsAreBare) {
    EXPECT_EQ(ways(R"({"type": "string"})", "a \"b\"\n\\"), "t");
    EXPECT_EQ(ways(R"({"type": "string"})", "17"), "t");
    EXPECT_EQ(ways(R"({"type": "string"})", "</v"), "t");
    EXPECT_EQ(ways(R"({"type": "string"})", "a</v>b"), "");
    EXPECT_EQ(ways(R"({"enum": ["a", "b\"", 3]})", "b\""), "t");
    EXPECT_EQ(ways(R"({"enum": ["a", "b\"", 3]})", "3"), "j");
    EXPECT_EQ(ways(R"({"enum": ["a", "b\"", 3]})", "c"), "");
    EXPECT_EQ(ways(R"({"type": "string", "pattern": "^[ab<]*$", "minLength": 2, "maxLength": 3})", "ab<"),
              "t");
    EXPECT_EQ(ways(R"({"type": "string", "pattern": "^[ab<]*$", "minLength": 2, "maxLength": 3})", "abab"),
              "");
    EXPECT_TRUE(rules_of(R"({"properties": {"m": {"const": "x</v>"}}})").members.empty());
}

TEST(MemberRules, OtherValuesAreJson) {
    EXPECT_EQ(ways(R"({"type": "integer", "minimum": 3})", "3"), "j");
    EXPECT_EQ(ways(R"({"type": "integer", "minimum": 3})", "2"), "");
    EXPECT_EQ(ways(R"({"type": "array", "items": {"type": "string"}})", R"(["a</v>"])"), "j");
    EXPECT_EQ(ways(R"({"type": "array", "items": {"type": "string"}})", "[a]"), "");
    EXPECT_FALSE(rules_of(R"({"properties": {"m": {"type": "boolean"}}})").members[0].text);
    EXPECT_FALSE(rules_of(R"({"properties": {"m": {"type": "string"}}})").members[0].json);
}

/// A text that looks like JSON is no string of a member that may be both, unless the notation tells.
TEST(MemberRules, EitherIsToldApart) {
    for (const char* member :
         {R"({"type": ["string", "integer"]})", R"({"anyOf": [{"type": "string"}, {"type": "integer"}]})",
          R"({"allOf": [{"type": ["string", "integer", "null"]}, {"type": ["string", "integer"]}]})"}) {
        EXPECT_EQ(ways(member, "17"), "j") << member;
        EXPECT_EQ(ways(member, "17 "), "t") << member;
        EXPECT_EQ(ways(member, "null"), "") << member;
        EXPECT_EQ(ways(member, "{"), "") << member;
        EXPECT_EQ(ways(member, "nul"), "t") << member;
        EXPECT_EQ(ways(member, "17", {.mark = "</v>", .are_told_apart = true}), "tj") << member;
        EXPECT_EQ(ways(member, "{", {.mark = "</v>", .are_told_apart = true}), "t") << member;
    }
    EXPECT_EQ(ways("{}", "x"), "t");
    EXPECT_EQ(ways("{}", "[1, \"x\"]"), "j");
    EXPECT_EQ(ways("{}", "\"x\""), "t");
    for (const char* text : {"0", "-1.5e+3", "true", "false", "null", "{", "[\n"})
        EXPECT_TRUE(looks_like_json(text)) << text;
    for (const char* text : {"", "01", "1 ", "True", "\"x\"", "x[", "-"})
        EXPECT_FALSE(looks_like_json(text)) << text;
}

TEST(MemberRules, MembersAreInOrder) {
    const MemberRules made = rules_of(
        R"({"$defs": {"n": {"type": ["integer", "null"]}}, "properties": {"b": {"$ref": "#/$defs/n"}, "a": {"type": "string"},
            "c": false}, "required": ["a", "d"]})");
    ASSERT_EQ(made.members.size(), 3U);
    EXPECT_EQ(made.members[0].name, "b");
    EXPECT_FALSE(made.members[0].is_required);
    EXPECT_EQ(ways(made, "null"), "j");
    EXPECT_EQ(made.members[1].name, "a");
    EXPECT_TRUE(made.members[1].is_required);
    EXPECT_EQ(made.members[2].name, "d");
    EXPECT_TRUE(made.members[2].text && made.members[2].json);
    EXPECT_TRUE(rules_of(R"({"type": "object"})").members.empty());
}

std::string message(const std::string& schema) {
    try {
        (void)rules_of(schema);
    } catch (const Error& error) {
        return error.what();
    }
    return "none";
}

TEST(MemberRules, WhatIsNotFollowedIsNamed) {
    using ::testing::HasSubstr;
    EXPECT_THAT(message(R"({"patternProperties": {"^a": {}}})"),
                HasSubstr("`patternProperties`: is not supported"));
    EXPECT_THAT(message(R"({"properties": {"a": {}}, "additionalProperties": {"type": "string"}})"),
                HasSubstr("`additionalProperties`: is not supported"));
    EXPECT_THAT(message(R"({"oneOf": [{"properties": {"a": {}}}]})"), HasSubstr("`oneOf`: is not supported"));
    EXPECT_THAT(message(R"({"properties": {"a": {}, "b": {}}, "maxProperties": 1})"),
                HasSubstr("counts its members"));
    EXPECT_THAT(
        message(
            R"({"properties": {"a": {"type": "string", "pattern": "^x$", "minLength": 2}}, "required": ["a"]})"),
        HasSubstr("requires the member a, but allows no value of it"));
    EXPECT_EQ(message(R"({"properties": {"a": {}}, "additionalProperties": true})"), "none");
}

}  // namespace
}  // namespace tessera::grammar
