#include "ir/facts/commute.h"

#include <gtest/gtest.h>

#include "ir/facts/facts.h"
#include "support/error.h"

namespace tessera::facts {
namespace {

struct Case {
    std::string post;  ///< with Y in place of the monoid call
    std::string monoid;
    bool commutes;
};

bool commutes(const Case& c, const std::string& body, const std::string& accumulator) {
    std::string expression = c.post;
    const std::string call = c.monoid + "(" + body + ")";
    expression.replace(expression.find('Y'), 1, call);
    const bool reads_w = expression.find('W') != std::string::npos;
    const bool reads_u = expression.find('U') != std::string::npos;
    const std::string text = "op post(m: 4, k*: 6)\nin X f32[m, k]\n" +
                             std::string(reads_w ? "in W f32[m]\n" : "") + (reads_u ? "in U u8[m]\n" : "") +
                             "out R f32[m] = " + expression + "\n" + accumulator;
    return post_commutes(bind_unfilled(parse_definition(text, "post.op"), {}, "post.op"));
}

TEST(PostCommutes, WithTheFold) {
    const Case cases[] = {
        {"Y * W", "sum", true},
        {"W * Y / 7", "sum", true},
        {"f32(Y) * 0.5", "sum", true},
        {"Y + W - W", "sum", true},
        {"select(m < 2, Y, 0)", "sum", true},
        {"f16(Y)", "sum", false},
        {"Y + 1", "sum", false},
        {"max(Y, 0)", "sum", false},
        {"round(Y)", "sum", false},
        {"sqrt(Y)", "sum", false},
        {"Y / (W * W + U)", "sum", true},
        {"Y / U", "sum", true},  // where U is 0 the whole is no number either
        {"Y * 0.5", "max", true},
        {"Y * W", "max", false},
        {"Y * U", "max", true},
        {"Y * W * W", "max", true},
        {"-Y", "max", false},
        {"tanh(Y) + W", "max", true},
        {"i8(Y * 3) div 2", "min", true},
        {"Y * abs(W)", "min", true},
        {"exp(-Y)", "min", false},
        {"min(max(Y, -3), 5)", "max", true},
        {"abs(Y)", "prod", true},
        {"Y * 2", "prod", false},
        {"-Y", "prod", false},
        {"sqrt(Y)", "min", true},
        {"sqrt(Y)", "max", false},  // a negative maximum of one device alone
    };
    for (const Case& c : cases) EXPECT_EQ(commutes(c, "X", ""), c.commutes) << c.monoid << " in " << c.post;
}

TEST(PostCommutes, ByWhatTheBodyCanGive) {
    EXPECT_TRUE(commutes({"sqrt(Y)", "max", true}, "X * X", ""));
    EXPECT_TRUE(commutes({"log(Y)", "max", true}, "exp(X)", ""));
    EXPECT_FALSE(commutes({"log(Y)", "max", true}, "X", ""));
}

TEST(PostCommutes, OnIntegersRoundingDoesNothing) {
    EXPECT_TRUE(commutes({"round(Y)", "sum", true}, "i32(X)", "acc i32\n"));
    EXPECT_FALSE(commutes({"i8(Y)", "sum", false}, "i32(X)", "acc i32\n"));
}

// Two calls of one monoid are not allowed, so choices by the folded value are built by hand: the search for a
// counterexample decides them, not the signs.
TEST(PostCommutes, WhereSignsDoNotDecide) {
    const auto chosen = [](double below) {
        Definition d = parse_definition("op leaky(m: 4, k*: 6)\nin X f32[m, k]\nout R f32[m] = max(X) * 1\n",
                                        "leaky.op");
        const ExprPtr y = std::make_shared<const Expr>(Expr{Folded{}});
        d.post = apply(Function::kSelect, {apply(Function::kGreater, {y, number(0)}), y,
                                           apply(Function::kMul, {real(below), y})});
        return post_commutes(bind_unfilled(d, {}, "leaky.op"));
    };
    EXPECT_TRUE(chosen(0.1));
    EXPECT_FALSE(chosen(-0.1));
}

}  // namespace
}  // namespace tessera::facts
