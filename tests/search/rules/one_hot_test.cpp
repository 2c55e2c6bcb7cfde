// Products with one-hot rows, chosen from instead.
#include <random>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "search/rules/examples.h"
#include "search/rules/rewrite.h"

namespace tessera::rules {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr unsigned kRandomTexts = 300;

/// As many units as an operator has iterations at the largest symbols, and as many more for each read.
double iterations(const egraph::Operator& op, std::span<const TensorType>) {
    const Definition& d = *op.definition();
    std::vector<int64_t> highest;
    for (const DimSymbol& dim : d.dims) highest.push_back(dim.high);
    double count = 1;
    for (const int64_t extent : bound_extents(d, highest, "cost").iterators)
        count *= static_cast<double>(extent);
    return count;
}

struct Wording {
    std::string ids = "i8[T, 1]", body = "I == k", type = "bool", table = "f32[40, 3] finite";
};

/// Y[b, t, n] = sum over k of hot[t, k] W[k, n], as exporters write it for a batch of 1.
std::string graph_text(const Wording& w) {
    return fmt::format(R"(graph "looked_up"
symbol T in 1..6
input i: {0}
constant w: {3} from "w"
value hot: {2}[1, T, 40]
value wide: f32[1, T, 40]
value y: f32[1, T, 3]
block body
  node hot(i) -> hot
    op equal(b: 1, t: T, k: 40)
    dim T in 1..6
    in I {4}[t, 0] of [T, 1]
    out H {2}[b, t, k] = {1}
  node wide(hot) -> wide
    op wide(b: 1, t: T, k: 40)
    dim T in 1..6
    in H {2}[0, t, k] of [1, T, 40]
    out Y f32[b, t, k] = H{5}
  node y(wide, w) -> y
    op matmul(b: 1, t: T, n: 3, k*: 40)
    dim T in 1..6
    in X f32[0, t, k] of [1, T, 40]
    in W f32[k, n]
    out Y f32[b, t, n] = sum(X * W)
output y
)",
                       w.ids, w.body, w.type, w.table, w.ids.substr(0, w.ids.find('[')),
                       w.type == "f32" ? " * 1" : "");
}

Rewritten rewritten(const std::string& text) {
    const Graph graph = parse_graph(text, "looked_up");
    verify(graph, "looked_up");
    Rewritten result = rewrite(graph, {.cost = iterations});
    verify(result.graph, "looked_up");
    return result;
}

TEST(OneHot, LooksUpRows) {
    const Rewritten found = rewritten(graph_text({}));
    EXPECT_THAT(print(found.blocks), HasSubstr("choose-by-cast-one-hot-left"));
    ASSERT_EQ(found.graph.blocks[0].nodes.size(), 1u);
    EXPECT_THAT(print(found.graph), HasSubstr("index X i8[t, 0] of [T, 1]"));
    EXPECT_THAT(print(found.graph), HasSubstr("in W f32[X mod 40, n] of [40, 3]"));
}

TEST(OneHot, StaysWhereTheTableMayHoldInfinity) {
    EXPECT_THAT(print(rewritten(graph_text({.table = "f32[40, 3]"})).blocks), Not(HasSubstr("one-hot")));
}

TEST(OneHot, StaysWhereOthersAreNotZero) {
    for (const char* body : {"select(I == k, 1, 0.5)", "select(I == k, 1, -0.0)", "I != k", "I == k - 1",
                             "select(I == k or I + 39 == k, 1, 0)", "I == t"}) {
        const Rewritten found = rewritten(graph_text({.body = body, .type = "f32"}));
        EXPECT_THAT(print(found.blocks), Not(HasSubstr("one-hot"))) << body;
    }
}

/// One-hot maps, factors and tables of all forms that the rule knows, with indices on both sides of the end.
std::string random_text(std::mt19937& random) {
    const auto one_of = [&](const std::vector<std::string>& all) { return all[random() % all.size()]; };
    const auto extent = static_cast<int>(1 + random() % 90);
    const std::string equal = one_of({"I == k", "k == I"}),
                      either = fmt::format("{0} or I + {1} == k", equal, extent),
                      condition = one_of({equal, either}),
                      body = one_of({condition, fmt::format("select({}, 1, 0)", condition),
                                     fmt::format("select({}, -2.75, 0)", condition)}),
                      ids = one_of({"i8", "u8", "i16"}), table = one_of({"f32", "bf16", "f16"}),
                      hot = one_of({"h, t, k", "k, h, t", "t, k, h"}), columns = one_of({"k, n", "n, k"}),
                      result = one_of({"h, t, n", "n, h, t"}),
                      post = one_of({"sum(X * W)", "sum(W * X) * 0.5", "exp(sum(X * W))"});
    const bool is_right = random() % 2 == 1, sums_heads = random() % 3 == 0;
    const auto shape = [&](const std::string& axes) {
        std::string text;
        for (const char c : axes)
            text += c == 'h'   ? "2"
                    : c == 't' ? "T"
                    : c == 'n' ? "3"
                    : c == 'k' ? std::to_string(extent)
                               : std::string(1, c);
        return text;
    };
    const std::string made = sums_heads ? "t, n" : result, x = fmt::format("    in X f32[{}]\n", hot),
                      w = fmt::format("    in W {}[{}]\n", table, columns);
    return fmt::format(R"(graph "random"
symbol T in 1..6
input i: {0}[2, T]
constant w: {1}[{2}] finite from "w"
value hot: f32[{3}]
value y: f32[{4}]
block body
  node hot(i) -> hot
    op hot(h: 2, t: T, k: {5})
    dim T in 1..6
    in I {0}[h, t]
    out H f32[{6}] = {7}
  node y({8}) -> y
    op product(h{9}: 2, t: T, n: 3, k*: {5})
    dim T in 1..6
{10}{11}    out Y f32[{12}] = {13}
output y
)",
                       ids, table, shape(columns), shape(hot), shape(made), extent, hot, body,
                       is_right ? "w, hot" : "hot, w", sums_heads ? "*" : "", is_right ? w : x,
                       is_right ? x : w, made, post);
}

TEST(OneHot, RandomGraphsComputeTheSame) {
    std::mt19937 random(68);
    int fired = 0;
    for (unsigned seed = 0; seed < kRandomTexts; ++seed) {
        const std::string text = random_text(random);
        SCOPED_TRACE(text);
        const Graph before = parse_graph(text, "random");
        const Rewritten found = rewritten(text);
        fired += print(found.blocks).find("one-hot") != std::string::npos ? 1 : 0;
        const GraphCall call = testing::random_call(before, seed, seed % 2 == 1);
        EXPECT_EQ(
            testing::difference(interpret_graph(found.graph, call), interpret_graph(before, call), 0x1p-22),
            "");
    }
    EXPECT_EQ(fired, kRandomTexts);
}

}  // namespace
}  // namespace tessera::rules
