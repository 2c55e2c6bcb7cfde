#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "ir/definition.h"

// Precedence and associativity: any tree, printed and read again, is the same tree.
namespace tessera {
namespace {

/// Two iterators, two dims, two operands; bodies are swapped in.
Definition frame() {
    return parse_definition(
        "op f(t: T, s: 8)\ndim T in 1..8, D in 1..8\nin X f32[t, s], Z f32[s]\nout Y f32[t, s] = X * Z\n",
        "frame");
}

rc::Gen<ExprPtr> leaf() {
    const Definition d = frame();
    return rc::gen::oneOf(
        rc::gen::map(rc::gen::inRange<int64_t>(-20, 1000), [](int64_t v) { return number(v); }),
        rc::gen::map(rc::gen::inRange<int64_t>(-4000, 4000),
                     [](int64_t v) { return real(static_cast<double>(v) / 256); }),
        rc::gen::map(rc::gen::elementOf(std::vector<double>{1e-30, 1e300, 0.1, -2.5e-7, 3.0, -0.0}),
                     [](double v) { return real(v); }),
        rc::gen::map(rc::gen::inRange(0, 2), [](int i) { return iterator_ref(i); }),
        rc::gen::map(rc::gen::inRange(0, 2), [](int i) { return dim_ref(i); }), rc::gen::just(infinity()),
        rc::gen::map(rc::gen::inRange(0, 2),
                     [d](int i) { return read(i, d.tensors[static_cast<size_t>(i)].map, true); }),
        rc::gen::just(
            read(1, {apply(Function::kMod, {apply(Function::kAdd, {iterator_ref(0), number(3)}), number(4)})},
                 false)));
}

rc::Gen<ExprPtr> tree(int depth) {
    if (depth == 0) return leaf();
    const auto below = tree(depth - 1);
    const auto functions = rc::gen::map(rc::gen::inRange(0, static_cast<int>(Function::kSelect) + 1),
                                        [](int i) { return static_cast<Function>(i); });
    const auto applied = rc::gen::mapcat(functions, [below](Function function) {
        return rc::gen::map(
            rc::gen::container<std::vector<ExprPtr>>(static_cast<size_t>(arity(function)), below),
            [function](std::vector<ExprPtr> arguments) { return apply(function, std::move(arguments)); });
    });
    const auto casted = rc::gen::map(
        rc::gen::pair(rc::gen::inRange(0, 9), below),
        [](const std::pair<int, ExprPtr>& c) { return cast(static_cast<ElementType>(c.first), c.second); });
    return rc::gen::weightedOneOf<ExprPtr>({{2, leaf()}, {8, applied}, {1, casted}});
}

RC_GTEST_PROP(Expr, PrintedAndReadIsTheSame, ()) {
    const ExprPtr body = *tree(5);
    Definition d = frame();
    // The frame's own reads keep both operands in use.
    d.body = {apply(Function::kAdd, {d.body[0], body})};
    const Definition again = parse_definition(print(d), "printed");
    RC_ASSERT(same(d.body[0], again.body[0]));
    RC_ASSERT(print(d) == print(again));
}

RC_GTEST_PROP(Expr, PredicatesAndPostExpressionsRoundTrip, ()) {
    Definition d = frame();
    d.iterators[0].is_reduction = true;
    d.tensors[2].map = {iterator_ref(1)};
    d.monoid = Monoid::kSum;
    d.where = *tree(4);
    d.post = apply(Function::kSub, {number(1), apply(Function::kNegate, {folded()})});
    const Definition again = parse_definition(print(d), "printed");
    RC_ASSERT(same(d, again));
}

std::string printed(const std::string& body) {
    const Definition d = parse_definition(
        "op f(t: 8)\nin X f32[t], Z f32[t], W f32[t]\nout Y f32[t] = X * Z * W + " + body + "\n", "body");
    return print(d, std::get<Apply>(d.body[0]->node).arguments[1]);
}

TEST(Expr, ParenthesesStandWhereTheyAreNeeded) {
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"(X - Z - W)", "X - Z - W"},
        {"(X - (Z - W))", "X - (Z - W)"},
        {"(X / (Z * W))", "X / (Z * W)"},
        {"(((X / Z))) * W", "X / Z * W"},
        {"(-(X + Z))", "-(X + Z)"},
        {"(-X * Z)", "-X * Z"},
        {"(-(X * Z))", "-(X * Z)"},
        {"(X - -Z)", "X - -Z"},
        {"(X * -1)", "X * -1"},
        {"(- -X)", "--X"},
        {"(- -3)", "3"},
        {"((X + Z) * W)", "(X + Z) * W"},
        {"((X < Z) == (Z < W))", "(X < Z) == (Z < W)"},
        {"(not (X < Z))", "not X < Z"},
        {"((not X) < Z)", "(not X) < Z"},
        {"(not X and Z)", "not X and Z"},
        {"(not (X and Z))", "not (X and Z)"},
        {"((X or Z) and W)", "(X or Z) and W"},
        {"(X or Z and W)", "X or Z and W"},
        {"(X or (Z or W))", "X or (Z or W)"},
        {"(X mod 3 div 2)", "X mod 3 div 2"},
        {"(X mod (3 div 2))", "X mod (3 div 2)"},
        {"select((X < Z), (X), (Z + W))", "select(X < Z, X, Z + W)"},
        {"i8((X))", "i8(X)"},
        {"(-inf)", "-inf"},
        {"2.0", "2.0"},
        {"1E2", "100.0"},
        {".5", "0.5"},
        {"0.1", "0.1"},
        {"1e30", "1e+30"},
    };
    for (const auto& [text, expected] : cases) EXPECT_EQ(printed(text), expected);
}

}  // namespace
}  // namespace tessera
