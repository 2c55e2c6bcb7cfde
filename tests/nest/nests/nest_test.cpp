#include "nest/nests/nest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/nests/example.h"
#include "support/error.h"

namespace tessera::nests {
namespace {

using ::testing::HasSubstr;

TEST(Nests, NameTheirLoops) {
    const Kernel kernel = kernel_of(kProducts);
    const auto parsed = parse_nest(kernel, "m:8@unit { n:9 { load D; k:4 { c } h:4 m:3 { n:4 { e } } } }");
    const Nest& nest = std::get<Nest>(parsed);
    std::string names;
    for (const LoopPosition& at : nest.around[1]) names += nest.loop(at).name + " ";
    EXPECT_EQ(names, "e.m e.n e.h e.m#2 e.n#2 ");
    EXPECT_EQ(nest.units(), 1U);
    EXPECT_EQ(nest.last, 1);
    EXPECT_EQ(nest.shared[0][1], 2U);
    EXPECT_EQ(nest.find(MoveKind::kLoad, kernel.find_tensor("D"), 1)->depth, 2U);
}

TEST(Nests, PrintWhatTheyParse) {
    const Kernel kernel = kernel_of(kProducts);
    for (const std::string text :
         {"{ c; e }", "m:8@unit h:12@unit { n:9 { load D; k:4 { c }; h:4 m:3 { e } } }",
          "{ { { c } }; { e } }"}) {
        const Nest nest = std::get<Nest>(parse_nest(kernel, text, {"C"}));
        EXPECT_EQ(print(written(kernel, nest)), text);
        EXPECT_EQ(std::get<Nest>(parse_nest(kernel, print(written(kernel, nest)), {"C"})), nest);
    }
    EXPECT_EQ(parse_nest(kernel, "{c;;e;}"), parse_nest(kernel, "{\n c \t e }"));
}

struct FormCase {
    const char* nest;
    const char* reason;
};

class BrokenForms : public ::testing::TestWithParam<FormCase> {};

TEST_P(BrokenForms, SayWhichRule) {
    EXPECT_EQ(refusal(kernel_of(kProducts), GetParam().nest), std::string("form: ") + GetParam().reason);
}

INSTANTIATE_TEST_SUITE_P(
    Of, BrokenForms,
    ::testing::Values(
        FormCase{"", "expected an iterator or `{` before `the end`"},
        FormCase{"{ c e", "expected an operator or `}` before `the end`"},
        FormCase{"{ c e } }", "expected the end before `}`"},
        FormCase{"m 4 { c e }", "expected `:` before `4 { c e }`"},
        FormCase{"m:x { c e }", "expected the size of a tile before `x { c e }`"},
        FormCase{"m:0 { c e }", "a tile of m is empty"},
        FormCase{"m:4@units { c e }", "expected `@worker`, `@unit` or `{` before `@ units { c e }`"},
        FormCase{"{ c e c }", "c stands twice"}, FormCase{"{ c d e }", "there is no operator d"},
        FormCase{"{ e }", "the operator c is missing"}, FormCase{"{ c e { } }", "a brace holds no operator"},
        FormCase{"{ c e { load A } }", "a brace holds no operator"},
        FormCase{"m:4 m:2 { c e }", "a brace has two loops over m"},
        FormCase{"k:4 { c e }", "k is no iterator of e"},
        FormCase{
            "n:4@unit { c e }",
            "@unit stands at e.n, expected it at the first loops of the nest alone, over parallel iterators"},
        FormCase{
            "m:4 h:2@unit { c e }",
            "@unit stands at e.h, expected it at the first loops of the nest alone, over parallel iterators"},
        FormCase{
            "{ m:4@unit { c } e }",
            "@unit stands at c.m, expected it at the first loops of the nest alone, over parallel iterators"},
        FormCase{"{ e c }", "e stands before C is made"},
        FormCase{"{ load C c e }", "load C cannot stand: the tensor lives at this level or inside of it"},
        FormCase{"{ load X c e }", "there is no tensor X"},
        FormCase{"{ load A load A c e }", "load A stands twice"},
        FormCase{"{ load }", "expected a tensor behind `load`"},
        FormCase{"{ load A as order [1, 0]; c e }", "load A has a layout"},
        FormCase{"m:4@worker { c e }", "the loop over e.m is divided between workers"},
        FormCase{"m:? { c e }", "the size of the loop over m is open"},
        FormCase{"{ c[loops] e }", "the operator c has a micro-kernel"},
        FormCase{"{ c load A e }", "load A has to stand before c, in a brace around it"},
        FormCase{"{ m:2 { load D c } e }", "load D has to stand before e, in a brace around it"}));

TEST(Nests, ShowTextThatIsNone) {
    const std::string reason = refusal(kernel_of(kProducts), "m:4 \xff\x1b { c e }");
    EXPECT_EQ(reason, "form: expected an iterator or `{` before `\\xff \\x1b { c e }`");
    EXPECT_LE(refusal(kernel_of(kProducts), "{ " + std::string(100'000, 'c') + " }").size(), 120U);
}

TEST(Nests, NeedEveryOperatorButTheLastRead) {
    const Kernel kernel = kernel_of(std::string(kProducts) + "op f(m: 20)\nin G f32[m]\nout H f32[m] = G\n");
    EXPECT_EQ(refusal(kernel, "{ c e f }"), "form: nobody reads e");
}

TEST(Nests, ShowResultsBeforeTheLastAlone) {
    const Kernel kernel = kernel_of(kProducts);
    EXPECT_EQ(refusal(kernel, "{ c e }", {"C"}), "");
    EXPECT_THAT(refusal(kernel, "{ c e }", {"E"}), HasSubstr("form: E cannot be made visible"));
    EXPECT_THAT(refusal(kernel, "{ c e }", {"A"}), HasSubstr("form: A cannot be made visible"));
}

TEST(Nests, TakeSizesBeyondAnyInteger) {
    const Kernel kernel = kernel_of(kProducts);
    EXPECT_EQ(refusal(kernel, "m:99999999999999999999999 { c e }"), "");
    EXPECT_EQ(facts_of_nest(kernel, "m:9223372036854775807@unit { c e }").units, 1);
}

TEST(Nests, AreBounded) {
    const Kernel kernel = kernel_of(kProducts);
    const auto repeated = [](const std::string& text, int times) {
        std::string all;
        for (int i = 0; i < times; ++i) all += text;
        return all;
    };
    EXPECT_THROW((void)parse_nest(kernel, repeated("{ ", 200) + "c e" + repeated(" }", 200)), Error);
    EXPECT_THROW((void)parse_nest(kernel, repeated("m:2 { ", 65) + "c e" + repeated(" }", 65)), Error);
    EXPECT_THROW((void)parse_nest(kernel, repeated("; ", 70000)), Error);
    EXPECT_EQ(refusal(kernel, repeated("m:2 { ", 64) + "c e" + repeated(" }", 64)), "");
}

}  // namespace
}  // namespace tessera::nests
