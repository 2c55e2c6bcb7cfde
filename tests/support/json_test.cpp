#include "support/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error.h"

namespace tessera {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <typename Read>
std::string error_of(Read&& read) {
    try {
        read();
        return "accepted";
    } catch (const Error& error) {
        return error.what();
    }
}

std::string error_of_text(const std::string& text, const JsonBounds& bounds = {}) {
    return error_of([&] { (void)parse_json(text, "a.json", bounds); });
}

TEST(Json, AKeyStandsOnceInAnObject) {
    EXPECT_EQ(error_of_text(R"({"a": {"b": 1}, "c": {"b": 2}})"), "accepted");
    EXPECT_EQ(error_of_text(R"({"a": {"b": 1, "b": 2}})"), "a.json: `b`: is there twice in one object");
    EXPECT_EQ(error_of_text(R"({"a": {"b": 1}, "a": 2})"), "a.json: `a`: is there twice in one object");
}

TEST(Json, BrokenTextIsRefusedWithItsPosition) {
    for (const char* text :
         {"", "{", "[1,]", "{\"a\" 1}", "nul", "[1] 2", "\"\xff\"", "[NaN]", "[1e999]", "[01]"}) {
        EXPECT_THAT(error_of_text(text), HasSubstr("is not valid JSON: ")) << text;
        EXPECT_THAT(error_of_text(text), HasSubstr("a.json@")) << text;
    }
    EXPECT_LT(error_of_text("[1, " + std::string(5000, 'x')).size(), 200u) << "however long a word is";
}

TEST(Json, WhatIsWrongWithALongTextIsSaidWhole) {
    const std::string text = "{\"prompt\": \"" + std::string(500, 'a') + "\\ud83d\"}";
    EXPECT_THAT(error_of_text(text),
                AllOf(HasSubstr("surrogate U+D800..U+DBFF must be followed by U+DC00..U+DFFF; last read: "),
                      ::testing::SizeIs(::testing::Le(400U))));
}

TEST(Json, BoundsHoldBeforeAndWhileItIsBuilt) {
    EXPECT_THAT(error_of_text(std::string(100, '[')), HasSubstr("nested more than 32"));
    EXPECT_THAT(error_of_text("[1, 2, 3]", {.values = 3}), HasSubstr("more than the 3 values"));
    EXPECT_THAT(error_of_text("[1, 2, 3]", {.bytes = 8}), HasSubstr("is 9 bytes long"));
    EXPECT_THAT(error_of_text(R"(["abcdef"])", {.word = 4}), HasSubstr("a word, or blanks, of more than 4"));
    JsonBuilder builder("b.json", 2);
    builder.begin_array();
    builder.null();
    EXPECT_EQ(error_of([&] { builder.null(); }), "b.json: holds more than the 2 values that are read");
}

// Work grows with the text: members of an object are not gone through again for each of them.
TEST(Json, ManyObjectsInOneAreReadAtOnce) {
    std::string text = "{";
    for (int i = 0; i < 60'000; ++i) text += fmt::format("{}\"{}\": {{\"a\": [0]}}", i == 0 ? "" : ",", i);
    EXPECT_EQ(parse_json(text + "}", "a.json", {.bytes = text.size() + 1}).keys().size(), 60'000u);
}

class Cursor : public ::testing::Test {
protected:
    const JsonCursor root_ = parse_json(
        R"({"n": -3, "big": 18446744073709551615, "x": 2.5, "t": "caf\u00e9", "flag": true, "off": false,
            "nothing": null, "list": [1, "two", {"deep": 7}], "object": {"a": {"b": 1, "c": 2}, "empty": {}}})",
        "dir/a.json");
};

TEST_F(Cursor, ReadsValuesOfEveryType) {
    EXPECT_EQ(root_.at("n").integer(), -3);
    EXPECT_EQ(root_.at("x").real(0, 3), 2.5);
    EXPECT_EQ(root_.at("n").real(-10, 3), -3);
    EXPECT_EQ(root_.at("t").string(), "café");
    EXPECT_TRUE(root_.at("flag").boolean());
    EXPECT_EQ(root_.at("list").items().size(), 3u);
    EXPECT_EQ(root_.at("list").items()[2].at("deep").integer(0, 7), 7);
    EXPECT_THAT(root_.at("object").keys(), ElementsAre("a", "empty"));
    EXPECT_EQ(root_.string_or("absent", "else"), "else");
    EXPECT_FALSE(root_.boolean_or("nothing", false));
    EXPECT_EQ(root_.find("nothing"), std::nullopt) << "null is as good as absent";
    EXPECT_TRUE(root_.at("object").at("empty").is_empty());
    EXPECT_TRUE(root_.at("off").is_off());
    EXPECT_FALSE(root_.at("flag").is_off());
    EXPECT_TRUE(root_.at("x").is_equal(2.5));
}

TEST_F(Cursor, ErrorsNameFilePlaceAndBothSides) {
    const auto error = [&](auto&& read) { return error_of([&] { (void)read(); }); };
    EXPECT_EQ(error([&] { return root_.at("absent"); }), "dir/a.json: `absent`: is missing");
    EXPECT_EQ(error([&] { return root_.at("object").at("a").at("z"); }),
              "dir/a.json: `object.a.z`: is missing");
    EXPECT_EQ(error([&] { return root_.at("list").items()[1].integer(); }),
              "dir/a.json: `list[1]`: is \"two\", expected an integer of 64 bits");
    EXPECT_EQ(error([&] { return root_.at("n").integer(0, 5); }),
              "dir/a.json: `n`: is -3, expected an integer from 0 to 5");
    EXPECT_THAT(error([&] { return root_.at("big").integer(); }), HasSubstr("is 18446744073709551615"));
    EXPECT_THAT(error([&] { return root_.at("x").integer(); }), HasSubstr("is 2.5, expected an integer"));
    EXPECT_THAT(error([&] { return root_.at("x").real(3, 4); }), HasSubstr("expected a number from 3 to 4"));
    EXPECT_THAT(error([&] { return root_.at("t").boolean(); }), HasSubstr("\", expected true or false"));
    EXPECT_THAT(error([&] { return root_.at("n").string(); }), HasSubstr("is -3, expected a text"));
    EXPECT_THAT(error([&] { return root_.at("n").items(); }), HasSubstr("is -3, expected a list"));
    EXPECT_THAT(error([&] { return root_.at("n").keys(); }), HasSubstr("is -3, expected an object"));
    EXPECT_THAT(error([&] { return root_.at("n").at("m"); }), HasSubstr("is -3, expected an object"));
}

TEST_F(Cursor, RemembersWhatWasRead) {
    const auto unread = [&] {
        std::vector<std::string> places;
        for (const JsonCursor& each : root_.unread()) places.push_back(each.place());
        return places;
    };
    EXPECT_EQ(unread().size(), 9u);
    for (const char* key : {"n", "big", "x", "t", "flag", "list", "nothing"}) (void)root_.find(key);
    EXPECT_THAT(unread(), ElementsAre("object", "off"));
    (void)root_.peek("off");
    const JsonCursor object = root_.at("object");
    EXPECT_THAT(unread(), ElementsAre("off")) << "an object that is read as a whole";
    (void)object.at("a").at("c");
    EXPECT_THAT(unread(), ElementsAre("object.a.b", "object.empty", "off"));
}

TEST_F(Cursor, KeepsItsDocument) {
    std::optional<JsonCursor> inner;
    {
        const JsonCursor other = parse_json(R"({"a": {"b": [1, 2]}})", "b.json");
        inner = other.at("a").at("b");
    }
    EXPECT_EQ(inner->items()[1].integer(), 2);
}

/// Writes the events down.
class Scribe final : public JsonEvents {
public:
    void null() override { said += "null "; }
    void boolean(bool value) override { said += value ? "true " : "false "; }
    void negative(int64_t value) override { said += fmt::format("{} ", value); }
    void natural(uint64_t value) override { said += fmt::format("{} ", value); }
    void real(double value) override { said += fmt::format("{} ", value); }
    void text(std::string& value) override { said += value + " "; }
    void begin_object() override { said += "{ "; }
    void key(std::string& name) override { said += name + ": "; }
    void end_object() override { said += "} "; }
    void begin_array() override { said += "[ "; }
    void end_array() override { said += "] "; }

    std::string said;
};

TEST(Json, EventsPassByInTheirOrder) {
    Scribe scribe;
    parse_json_events(R"({"a": [1, -2, 2.5, "x", null, true], "b": {}})", "a.json", {}, scribe);
    EXPECT_EQ(scribe.said, "{ a: [ 1 -2 2.5 x null true ] b: { } } ");
    EXPECT_THAT(error_of([&] { parse_json_events("[1, 2", "a.json", {}, scribe); }),
                HasSubstr("is not valid JSON"));
}

}  // namespace
}  // namespace tessera
