#include "import/hf/json_file.h"

#include <gtest/gtest.h>

#include "support/error.h"

namespace tessera {
namespace {

std::string error_of_json(const std::string& text) {
    try {
        (void)parse_json(text, "a.json");
        return "accepted";
    } catch (const Error& error) {
        return error.what();
    }
}

TEST(JsonFile, IsReadAsTheLibraryReadsIt) {
    for (const char* text :
         {R"({"a": [1, -2, 3.5, true, null, "x\u00e9", {}, []], "b": {"c": {"d": [[1], [2, [3]]]}}})", "7",
          "[]", R"("text")", R"([{"a": 1}, {"a": 2}])", R"({"": {"": ""}})", "18446744073709551615"})
        EXPECT_EQ(parse_json(text, "a.json"), nlohmann::json::parse(text)) << text;
}

TEST(JsonFile, AKeyStandsOnceInAnObject) {
    EXPECT_EQ(error_of_json(R"({"a": {"b": 1}, "c": {"b": 2}})"), "accepted");
    EXPECT_EQ(error_of_json(R"({"a": {"b": 1, "b": 2}})"), "a.json: `b`: is there twice in one object");
    EXPECT_EQ(error_of_json(R"({"a": {"b": 1}, "a": 2})"), "a.json: `a`: is there twice in one object");
}

TEST(JsonFile, BrokenTextIsRefused) {
    for (const char* text :
         {"", "{", "[1,]", "{\"a\" 1}", "nul", "[1] 2", "\"\xff\"", "[NaN]", "[1e999]", "[01]"})
        EXPECT_NE(error_of_json(text).find("a.json: is not valid JSON: "), std::string::npos) << text;
}

// Work grows with the text: members of an object are not gone through again for each of them.
TEST(JsonFile, ManyObjectsInOneAreReadAtOnce) {
    std::string text = "{";
    for (int i = 0; i < 60'000; ++i) text += fmt::format("{}\"{}\": {{\"a\": [0]}}", i == 0 ? "" : ",", i);
    EXPECT_EQ(parse_json(text + "}", "a.json", {.bytes = text.size() + 1}).size(), 60'000u);
}

}  // namespace
}  // namespace tessera
