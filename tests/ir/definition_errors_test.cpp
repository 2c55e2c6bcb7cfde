#include <gtest/gtest.h>

#include "ir/fixtures.h"

// tests/ir/errors/*.txt: mistakes, each with the exact message. Texts that are too long to write down are
// made here.
namespace tessera {
namespace {

struct Mistake {
    std::string name;
    std::string text;
    std::string message;
};

std::vector<Mistake> mistakes_in(const std::filesystem::path& file) {
    std::vector<Mistake> mistakes;
    std::string all = text_of(file);
    for (size_t at = 0; at < all.size();) {
        const size_t end = std::min(all.find("===\n", at), all.size());
        const std::string part = all.substr(at, end - at);
        const size_t name_end = part.find('\n');
        const size_t middle = part.find("---\n");
        EXPECT_TRUE(part.starts_with("# case: ") && middle != std::string::npos) << file << ": " << part;
        std::string message = part.substr(middle + 4);
        if (message.ends_with('\n')) message.pop_back();
        mistakes.push_back(
            {part.substr(8, name_end - 8), part.substr(name_end + 1, middle - name_end - 1), message});
        at = end + 4;
    }
    return mistakes;
}

TEST(DefinitionErrors, NameTheLineAndWhatWasExpected) {
    size_t count = 0;
    for (const auto& file : files_in(std::filesystem::path(TESSERA_SOURCE_DIR) / "tests/ir/errors", ".txt")) {
        for (const Mistake& mistake : mistakes_in(file)) {
            EXPECT_EQ(error_of(mistake.text), mistake.message)
                << file.filename() << ", case: " << mistake.name;
            EXPECT_TRUE(mistake.message.starts_with("case.op:")) << mistake.name;
            ++count;
        }
    }
    EXPECT_GE(count, 200U);
}

std::string map_with_body(const std::string& body) {
    return "op f(t: 4)\nin X f32[t]\nout Y f32[t] = " + body + "\ntest\n";
}

std::string repeated(const std::string& part, int times) {
    std::string text;
    for (int i = 0; i < times; ++i) text += part;
    return text;
}

TEST(DefinitionErrors, DeepNestingIsRefused) {
    EXPECT_EQ(error_of(map_with_body(repeated("(", 50) + "X" + repeated(")", 50))), "");
    for (const std::string& opening :
         {std::string("("), std::string("-"), std::string("not "), std::string("abs(")}) {
        const std::string error = error_of(map_with_body(repeated(opening, 1000)));
        EXPECT_NE(error.find("nested more than 200 levels deep"), std::string::npos)
            << opening << ": " << error;
    }
}

TEST(DefinitionErrors, DeepIndirectionIsRefused) {
    const auto text = [](int depth) {
        return "op f(t: 4)\nindex id i32[t]\nin X f32[" + repeated("id[", depth) + "t" +
               repeated("]", depth) + "] of [4]\nout Y f32[t] = X\ntest\nfill id[i] = 3 - i\n";
    };
    EXPECT_EQ(error_of(text(20)), "");
    EXPECT_EQ(error_of(text(1000)), "case.op:3: the expression is nested more than 200 levels deep");
}

TEST(DefinitionErrors, LongLinesAreRefused) {
    EXPECT_EQ(error_of(map_with_body("X" + repeated(" + X", 2000))), "");
    EXPECT_EQ(error_of(map_with_body("X" + repeated(" + X", 100000))),
              "case.op:3: the line has more than 4096 words");
}

TEST(DefinitionErrors, LargeTextsAreRefused) {
    const std::string text(2 << 20, '#');
    EXPECT_EQ(error_of(text), "case.op: has 2097152 bytes, expected at most 1048576");
}

TEST(DefinitionErrors, TooManyNamesAreRefused) {
    std::string iterators = "it0: 1";
    for (int i = 1; i < 70; ++i) iterators += ", it" + std::to_string(i) + ": 1";
    EXPECT_EQ(error_of("op f(" + iterators + ")\n"), "case.op:1: the operator has more than 64 iterators");
    std::string operands = "in a0 f32[t]";
    for (int i = 1; i < 300; ++i) operands += ", a" + std::to_string(i) + " f32[t]";
    EXPECT_EQ(error_of("op f(t: 4)\n" + operands + "\n"), "case.op:2: more than 256 tensors are declared");
}

TEST(DefinitionErrors, ADefinitionWithoutTestPartRefusesOne) {
    const std::string text = "op f(t: T)\ndim T in 1..4\nin X f32[t]\nout Y f32[t] = X\n";
    EXPECT_EQ(parse_definition(text, "f.op").name, "f");
    EXPECT_ANY_THROW(parse_definition(text + "test\nbind T = 2\n", "f.op"));
}

// Carriage returns, tabs, a missing newline at the end and comments change nothing.
TEST(DefinitionErrors, WhiteSpaceIsNoMistake) {
    const std::string plain = "op f(t: 4)\nin X f32[t]\nout Y f32[t] = X\n";
    const std::string odd = "# a comment\r\n\n op\tf ( t:4 )# more\r\nin X f32 [t]\r\n\r\nout  Y f32[ t ]=X";
    EXPECT_TRUE(same(parse_definition(plain, "a"), parse_definition(odd, "b")));
}

}  // namespace
}  // namespace tessera
