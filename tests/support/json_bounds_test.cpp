#include "support/json_bounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error.h"

namespace tessera {
namespace {

using ::testing::HasSubstr;

std::string error_of(const std::string& text, const JsonBounds& bounds) {
    try {
        check_json_bounds(text, bounds, "file.json");
        return "accepted";
    } catch (const Error& error) {
        return error.what();
    }
}

TEST(JsonBounds, EachBoundIsTheLastThatIsAccepted) {
    const JsonBounds bounds{.bytes = 40, .values = 6, .depth = 3, .word = 8};
    EXPECT_EQ(error_of(std::string(40, ','), {.bytes = 40}), "accepted");
    EXPECT_THAT(error_of(std::string(41, ','), {.bytes = 40}),
                HasSubstr("is 41 bytes long, more than the 40"));
    EXPECT_EQ(error_of("[[[]]]", bounds), "accepted");
    EXPECT_THAT(error_of("[[[[]]]]", bounds), HasSubstr("file.json@3: is nested more than 3 levels deep"));
    EXPECT_EQ(error_of("[1,2,3,4,5]", bounds), "accepted");
    EXPECT_THAT(error_of("[1,2,3,4,5,6]", bounds), HasSubstr("holds more than the 6 values"));
    EXPECT_EQ(error_of("12345678", bounds), "accepted");
    EXPECT_THAT(error_of("[123456789]", bounds),
                HasSubstr("file.json@1: holds a word, or blanks, of more than 8"));
    EXPECT_THAT(error_of("[         1]", bounds), HasSubstr("more than 8 bytes"));
    EXPECT_THAT(error_of("\"12345678", bounds), HasSubstr("more than 8 bytes"));
    EXPECT_THAT(error_of("123456789", bounds), HasSubstr("more than 8 bytes"));
}

TEST(JsonBounds, WhatStandsInAStringIsNoStructure) {
    const JsonBounds bounds{.bytes = 100, .values = 3, .depth = 1, .word = 50};
    EXPECT_EQ(error_of(R"(["[[[,,,{{{", 1])", bounds), "accepted");
    EXPECT_EQ(error_of(R"(["\"[[[\\"])", bounds), "accepted");
    EXPECT_THAT(error_of(R"(["\\"[])", bounds), HasSubstr("nested more than 1"));
    EXPECT_EQ(error_of("\"\\", bounds), "accepted");  // the parser will say that it does not end
}

TEST(JsonBounds, ADocumentLeavesItsDepthAgain) {
    EXPECT_EQ(error_of("[[],[],[],[]]", {.depth = 2}), "accepted");
}

}  // namespace
}  // namespace tessera
