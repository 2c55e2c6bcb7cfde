#include "import/architecture/parse_architecture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/architecture/architectures.h"
#include "support/error.h"

namespace tessera::import {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string_view no_text(std::string_view) {
    return {};
}

/// The smallest text that is whole.
const std::string kWhole = R"(arch toy
class "ToyForCausalLM"
set layers int from 1 to 4 hf "num_hidden_layers" = 2, vocabulary int from 1 to 99 hf "vocab_size" = 9,
  positions int from 1 to 99 hf "max_position_embeddings" = 64, hidden int from 1 to 64 hf "hidden_size" = 8
layers hf "model.layers.{}." count layers
model
  weight embedding_weight [vocabulary, hidden] hf "model.embed_tokens"
  y = layers(lookup_)
  lookup_ = lookup(embedding_weight, token)
  logits = linear(y, embedding_weight)
layer
  weight up_weight [hidden, hidden] bias true hf "up"
  give = x + linear(x, up_weight)
)";

Architecture parsed(const std::string& text) {
    return parse_architecture(text, "toy.arch", no_text);
}

std::string problem_in(const std::string& text) {
    try {
        (void)parsed(text);
    } catch (const Error& error) {
        return error.what();
    }
    return "was accepted";
}

std::string with_text(std::string text, const std::string& from, const std::string& to) {
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

TEST(ParseArchitecture, AStatementMayStandOnSeveralLines) {
    const Architecture found = parsed(kWhole);
    EXPECT_EQ(found.name, "toy");
    EXPECT_THAT(found.classes, ElementsAre("ToyForCausalLM"));
    ASSERT_EQ(found.settings.size(), 4u);
    EXPECT_EQ(found.settings[2].name, "positions");
    EXPECT_THAT(found.settings[2].hf.names, ElementsAre("max_position_embeddings"));
    EXPECT_EQ(print(found.settings[3].high), "64");
    EXPECT_EQ(found.layer.tensors[0].where, "toy.arch:12");
    const std::string continued = with_text(kWhole, "hf \"up\"", "\n    hf \"up\"");
    EXPECT_THAT(parsed(continued).layer.tensors[0].hf, ElementsAre("up"));
}

TEST(ParseArchitecture, APrintedTextIsTheSame) {
    for (const ShippedText& each : shipped_texts()) {
        SCOPED_TRACE(each.name);
        const std::string once = print(*shipped_architecture(each.name));
        EXPECT_EQ(print(parse_architecture(once, "again.arch", no_text)), once);
    }
}

TEST(ParseArchitecture, ALaterTextReplacesWhatItNames) {
    const std::string child = R"(arch child like toy
class "ChildForCausalLM"
set hidden hf = 16
layer changed
  weight up_weight [hidden, hidden] hf "other"
)";
    const Architecture found =
        parse_architecture(child, "child.arch", [](std::string_view name) -> std::string_view {
            return name == "toy" ? std::string_view(kWhole) : std::string_view();
        });
    EXPECT_EQ(found.name, "child");
    EXPECT_EQ(print(found.setting("hidden")->hf.absent), "16");
    EXPECT_EQ(print(found.setting("hidden")->high), "64") << "what is not said stays";
    ASSERT_EQ(found.layer.tensors.size(), 1u);
    EXPECT_EQ(found.layer.tensors[0].bias, nullptr) << "a tensor is with_text as a whole";
    EXPECT_EQ(found.layer.assignments.size(), 1u);
    EXPECT_THAT(problem_in("arch child like nothing\n"), HasSubstr("`nothing`: is no architecture"));
}

struct WrongText {
    const char* name;
    const char* from;
    const char* to;
    const char* message;
};

class WrongTexts : public ::testing::TestWithParam<WrongText> {};

TEST_P(WrongTexts, NameTheLine) {
    const auto& [name, from, to, message] = GetParam();
    EXPECT_THAT(problem_in(with_text(kWhole, from, to)), HasSubstr(message));
}

const WrongText kWrongTexts[] = {
    {"word", "class", "clas", "toy.arch:2: `clas`: is no statement"},
    {"type", "layers int", "layers number", "toy.arch:3: found `number`, expected a type"},
    {"unknown", "linear(x, up_weight)", "linear(z, up_weight)", "toy.arch:13: `z`: is declared nowhere"},
    {"function", "linear(x", "liner(x", "toy.arch:13: `liner`: is no function"},
    {"arguments", "linear(x, up_weight)", "linear(x)", "has 1 arguments, expected 2"},
    {"option", "linear(x, up_weight)", "linear(x, up_weight, pairs: true)",
     "`pairs`: is no option of linear"},
    {"bracket", "[hidden, hidden]", "[hidden, hidden", "a bracket is not closed"},
    {"quote", "\"up\"", "\"up", "a text in quotation marks is not closed"},
    {"chain", "x + linear", "1 < 2 < linear", "comparisons do not chain"},
    {"twice", "hidden int from 1 to 64", "layers int from 1 to 64", "`layers`: is declared twice"},
    {"place", "model.layers.{}.", "model.layers.", "has no place for the number of the layer"},
    {"value", "give =", "hidden =", "`hidden`: is a setting, and no value"},
    {"missing", "logits =", "scores =", "`logits`: is assigned nowhere"},
    {"axes", "[hidden, hidden]", "[hidden, hidden, hidden, hidden]", "a tensor has 4 axes"},
};

INSTANTIATE_TEST_SUITE_P(All, WrongTexts, ::testing::ValuesIn(kWrongTexts),
                         [](const auto& wrong) { return std::string(wrong.param.name); });

TEST(ParseArchitecture, TextsAreBounded) {
    EXPECT_THAT(problem_in(std::string(1 << 17, ' ')), HasSubstr("expected at most 65536"));
    EXPECT_THAT(problem_in("arch a\n" + std::string(2000, ';') + "let a = " + std::string(100, '(')),
                HasSubstr("a bracket is not closed"));
    const std::string deep = std::string(100, '(') + "1" + std::string(100, ')');
    EXPECT_THAT(problem_in("arch a\nlet b = " + deep + "\n"), HasSubstr("nested more than"));
    std::string many = "arch a\n";
    for (int i = 0; i < 2000; ++i) many += "ignore \"a\"\n";
    EXPECT_THAT(problem_in(many), HasSubstr("more than 1000 statements"));
    std::string sum = "arch a\nlet b = 1";
    for (int i = 0; i < 1000; ++i) sum += "+1";
    EXPECT_THAT(problem_in(sum + "\n"), HasSubstr("more than 400 parts"));
    EXPECT_THAT(problem_in(""), HasSubstr("says nothing"));
}

TEST(ParseArchitecture, TextsThatBeginWithEachOtherEnd) {
    try {
        (void)parse_architecture("arch a like a\n", "a.arch",
                                 [](std::string_view) -> std::string_view { return "arch a like a\n"; });
        FAIL() << "was accepted";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("that begins with another"));
    }
}

}  // namespace
}  // namespace tessera::import
