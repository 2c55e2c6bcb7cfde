#include "support/stand_in.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error.h"

namespace tessera {
namespace {

std::string problem_of(std::string_view bytes) {
    try {
        refuse_stand_in(bytes, "model.gguf");
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(StandIn, IsNamedWithTheWayToTheFile) {
    EXPECT_EQ(
        problem_of("version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 3\n"),
        "model.gguf: is a pointer of git-lfs, not the file (`git lfs pull` in its repository fetches the "
        "file)");
    EXPECT_EQ(problem_of(""), "model.gguf: is empty (it was not copied whole)");
    for (const char* page : {"<!DOCTYPE html><html>", "\xef\xbb\xbf\n <HTML lang=\"en\">", "<html>"})
        EXPECT_THAT(problem_of(page), ::testing::HasSubstr("is a page of a web site")) << page;
    EXPECT_THAT(problem_of("<?xml version=\"1.0\"?><Error>"), ::testing::HasSubstr("is an XML document"));
    EXPECT_THAT(problem_of("PK\x03\x04 data.pkl"), ::testing::HasSubstr("is an archive"));
    EXPECT_THAT(problem_of("\x1f\x8b\x08"), ::testing::HasSubstr("is an archive"));
}

TEST(StandIn, TextInThePlaceOfABinaryFileIsQuoted) {
    const auto refused = [](std::string_view bytes) {
        try {
            refuse_text(bytes, "model.safetensors");
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_THAT(refused("Entry not found\n"),
                ::testing::HasSubstr("begins with the text \"Entry not found\""));
    EXPECT_THAT(refused("{\"error\":\"Invalid username\"}"), ::testing::HasSubstr("{\"error\":"));
    EXPECT_THAT(refused("No"), ::testing::HasSubstr("\"No\""));
    EXPECT_THAT(refused("version https://git-lfs.github.com/spec/v1"), ::testing::HasSubstr("git-lfs"));
    EXPECT_EQ(refused(std::string_view("\x10\0\0\0\0\0\0\0{}", 10)), "");
    EXPECT_EQ(refused(std::string_view("abcdefg\x01", 8)), "");
}

TEST(StandIn, FilesOfModelsAreNone) {
    using std::string_view_literals::operator""sv;
    for (const std::string_view bytes : {"GGUF\3\0\0\0"sv, "{\"a\": 1}"sv, "\x10\0\0\0\0\0\0\0{}"sv, " "sv,
                                         "\xef\xbb"sv, "version"sv, "#version: 0.2"sv})
        EXPECT_EQ(problem_of(bytes), "") << bytes;
}

}  // namespace
}  // namespace tessera
