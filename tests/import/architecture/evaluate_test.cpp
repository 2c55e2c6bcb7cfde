#include "import/architecture/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/architecture/term_parser.h"
#include "support/error.h"

namespace tessera::import {
namespace {

using ::testing::HasSubstr;

TermPtr term(std::string_view text) {
    TokenStream tokens = tokens_of(text, "test");
    TermPtr parsed = parse_term(tokens);
    tokens.expect_end("the expression");
    return parsed;
}

std::optional<Scalar> scope(const std::string& name) {
    if (name == "heads") return Scalar{int64_t{6}};
    if (name == "scale") return Scalar{0.5};
    if (name == "kind") return Scalar{std::string("full")};
    if (name == "kinds")
        return Scalar{
            std::vector<Scalar>{{std::string("full")}, {std::string("none")}, {std::string("full")}}};
    if (name == "dense") return Scalar{std::vector<Scalar>{{int64_t{1}}, {int64_t{3}}}};
    return std::nullopt;
}

std::string value_of(std::string_view text) {
    return print(evaluate(term(text), scope, "test"));
}

std::string evaluation_problem(std::string_view text) {
    try {
        return value_of(text);
    } catch (const Error& error) {
        return error.what();
    }
}

TEST(Evaluate, IntegersStayIntegers) {
    EXPECT_EQ(value_of("heads * 2 + 1"), "13");
    EXPECT_EQ(value_of("heads div 4"), "1");
    EXPECT_EQ(value_of("-7 div 2"), "-4");
    EXPECT_EQ(value_of("-7 mod 4"), "1");
    EXPECT_EQ(value_of("heads / 4"), "1.5");
    EXPECT_EQ(value_of("max(heads, 9)"), "9");
    EXPECT_EQ(value_of("1 / sqrt(scale * 8)"), "0.5");
}

TEST(Evaluate, ConditionsLookNoFurtherThanTheyMust) {
    EXPECT_EQ(value_of("heads > 3 or unknown"), "true");
    EXPECT_EQ(value_of("select(kind == \"full\", 1, unknown)"), "1");
    EXPECT_EQ(value_of("3 in dense and not 2 in dense"), "true");
    EXPECT_EQ(value_of("given(null, heads)"), "6");
    EXPECT_EQ(value_of("dense[1] + length(dense)"), "5");
}

TEST(Evaluate, PlacesInLists) {
    EXPECT_EQ(value_of("count(kinds, \"full\", 0)"), "0");
    EXPECT_EQ(value_of("count(kinds, kind, 2)"), "1");
    EXPECT_EQ(value_of("count(kinds, \"full\", 3)"), "2");
    EXPECT_EQ(value_of("nth(kinds, \"full\", 1)"), "2");
    EXPECT_EQ(value_of("nth(dense, 3, 0)"), "1");
    EXPECT_THAT(evaluation_problem("nth(kinds, \"full\", 2)"), HasSubstr("2 of 2 such elements"));
    EXPECT_THAT(evaluation_problem("count(kinds, \"full\", 4)"), HasSubstr("4 of 3 elements"));
    EXPECT_THAT(evaluation_problem("count(heads, 1, 0)"), HasSubstr("is of a list"));
}

TEST(Evaluate, WhatHasNoValueIsAnError) {
    EXPECT_THAT(evaluation_problem("unknown + 1"), HasSubstr("`unknown`: has no value"));
    EXPECT_THAT(evaluation_problem("1 div 0"), HasSubstr("does not exist"));
    EXPECT_THAT(evaluation_problem("1 / 0"), HasSubstr("does not exist"));
    EXPECT_THAT(evaluation_problem("9007199254740992 * 9007199254740992"), HasSubstr("beyond 64 bits"));
    EXPECT_THAT(evaluation_problem("kind + 1"), HasSubstr("is a text, expected a number"));
    EXPECT_THAT(evaluation_problem("dense[2]"), HasSubstr("has 2 elements"));
    EXPECT_THAT(evaluation_problem("null > 1"), HasSubstr("expected a number"));
}

TEST(Evaluate, WhatDependsOnSettingsAloneBecomesAConstant) {
    EXPECT_EQ(print(folded(term("x * (heads + 1)"), scope, "test")), "x * 7");
    EXPECT_EQ(print(folded(term("max(x, -inf)"), scope, "test")), "max(x, -inf)");
    EXPECT_EQ(print(folded(term("x + select(heads > 3, y, z)"), scope, "test")), "x + y");
    EXPECT_EQ(print(folded(term("rms(x, w, plus: heads - 5)"), scope, "test")), "rms(x, w, plus: 1)");
}

TEST(Terms, APrintedTermIsReadAsItWas) {
    for (const char* text :
         {"1 + 2 * 3", "(1 + 2) * 3", "1 - (2 - 3)", "1 - 2 - 3", "-x * 2", "-(x * 2)", "not (a and b) or c",
          "a < b + 1", "(a < b) == c", "select(a, \"x\", (1, 2, 3))", "f(x, y, a: 1, b: 2.5)", "x[i, j + 1]",
          "(1,)", "()", "1e-06", "not layer in dense", "a mod b == 0"})
        EXPECT_EQ(print(term(text)), text);
}

}  // namespace
}  // namespace tessera::import
