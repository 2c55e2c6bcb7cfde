// Products that share an input become one, where that costs less.
#include <cstring>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/constant_data.h"
#include "import/quantised/memory_weights.h"
#include "search/rules/algebra/families.h"
#include "search/rules/examples.h"
#include "search/rules/rewrite.h"

namespace tessera::rules {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kBlock = R"(graph "siblings"
symbol T in 1..8
point one weight 1: T = 4
input x: f32[T, 16]
constant q_weight: f32[8, 16] from "q.*" for 0..1
constant k_weight: f32[16, 4] from "k.*" for 0..1
constant v_weight: f32[8, 16] from "v.*" for 0..1
value q: f32[T, 8]
value k: f32[T, 4]
value v: f32[T, 8]
value y: f32[T, 16]
block layer repeat 2 carry x -> y
  node q(x, q_weight) -> q
    op matmul(t: T, n: 8, k*: 16)
    dim T in 1..8
    in X f32[t, k]
    in W f32[n, k]
    out Y f32[t, n] = sum(X * W)
  node k(x, k_weight) -> k
    op turned(t: T, n: 4, k*: 16)
    dim T in 1..8
    in X f32[t, k]
    in W f32[k, n]
    out Y f32[t, n] = sum(X * W)
  node v(x, v_weight) -> v
    op matmul(t: T, n: 8, k*: 16)
    dim T in 1..8
    in X f32[t, k]
    in W f32[n, k]
    out Y f32[t, n] = sum(X * W)
  node y(x, q, k, v) -> y
    op mix(t: T, d: 16)
    dim T in 1..8
    in X f32[t, d]
    in Q f32[t, d mod 8] of [T, 8]
    in K f32[t, d mod 4] of [T, 4]
    in V f32[t, d mod 8] of [T, 8]
    out Y f32[t, d] = X + Q * K + V
output y
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
    return text;
}

/// All three weights alike: [n, k].
std::string of_one_form() {
    return replaced(replaced(replaced(kBlock, "f32[16, 4]", "f32[4, 16]"), "op turned", "op matmul"),
                    "in W f32[k, n]", "in W f32[n, k]");
}

/// Ten for a product, `of_transpose` for a transpose, 30 for a concatenation, and one for anything else.
OperatorCost dear_products(double of_transpose = 1) {
    const std::vector<DimSymbol> symbols = {{"T", 1, 8}};
    return [product = rules::products(symbols), transpose = rules::transposes(symbols),
            concat = rules::concats(symbols),
            of_transpose](const egraph::Operator& op, std::span<const TensorType>) {
        if (product->recognise(op)) return 10.0;
        if (concat->recognise(op)) return 30.0;
        return transpose->recognise(op) ? of_transpose : 1.0;
    };
}

/// Random F32 for every source of the graph.
tessera::testing::MemoryWeights weights_of(const Graph& graph) {
    tessera::testing::MemoryWeights weights;
    unsigned seed = 1;
    for (const Value& value : graph.values)
        for (const std::string& source : value.sources) {
            const std::vector<int64_t> shape = evaluate(value.type.shape, {});
            std::string bytes;
            for (int64_t i = 0; i < shape[0] * shape[1]; ++i) {
                seed = seed * 1664525 + 1013904223;
                const float number = static_cast<float>(seed >> 8) / 0x1p23F - 1;
                char each[sizeof number];
                std::memcpy(each, &number, sizeof number);
                bytes.append(each, sizeof number);
            }
            weights.add(source, "F32", shape, std::move(bytes), ElementType::kF32);
        }
    return weights;
}

/// Rewrites the text and interprets both graphs.
Rewritten rewritten(const std::string& text, const OperatorCost& cost) {
    const Graph graph = parse_graph(text, "siblings");
    verify(graph, "siblings");
    Rewritten result = rewrite(graph, {.cost = cost});
    verify(result.graph, "rewritten");
    EXPECT_EQ(print(parse_graph(print(result.graph), "again")), print(result.graph));
    EXPECT_EQ(result.blocks[0].saturation.stop, egraph::StopReason::kSaturated);
    GraphCall call = rules::testing::random_call(graph, 3, false);
    const tessera::testing::MemoryWeights weights = weights_of(graph);
    call.constant = [&](const Value& constant, int64_t repetition) {
        return import::constant_data(weights, constant, repetition);
    };
    EXPECT_EQ(
        rules::testing::difference(interpret_graph(result.graph, call), interpret_graph(graph, call), 0), "");
    return result;
}

TEST(Siblings, AnyNumberBecomesOneProduct) {
    const Rewritten result = rewritten(of_one_form(), dear_products());
    EXPECT_EQ(result.blocks[0].cost_before, 31);
    EXPECT_DOUBLE_EQ(result.blocks[0].cost_after, 14.3);
    const std::string text = print(result.graph);
    EXPECT_THAT(text,
                HasSubstr("constant q_weight_and_k_weight_and_v_weight: f32[20, 16] from \"q.*\" for 0..1 "
                          "then \"k.*\" for 0..1 then \"v.*\" for 0..1 along 0 of 8, 4, 8\n"));
    EXPECT_THAT(text, Not(HasSubstr("constant q_weight:")));
    EXPECT_THAT(print(result.blocks), HasSubstr("join-siblings: "));
}

TEST(Siblings, ConstantsStandBesideEachOtherAlongAnyAxis) {
    const std::string text = replaced(of_one_form(), "in W f32[n, k]", "in W f32[k, n]");
    const Rewritten result =
        rewritten(replaced(replaced(text, "f32[8, 16] from", "f32[16, 8] from"), "f32[4, 16]", "f32[16, 4]"),
                  dear_products());
    EXPECT_THAT(print(result.graph), HasSubstr("along 1 of 8, 4, 8"));
}

TEST(Siblings, OfDifferentFormsStayApart) {
    const Rewritten result = rewritten(kBlock, dear_products());
    EXPECT_DOUBLE_EQ(result.blocks[0].cost_after, 23.3);
    EXPECT_THAT(print(result.graph), HasSubstr("along 0 of 8, 8"));
    EXPECT_THAT(print(result.graph), HasSubstr("constant k_weight:"));
}

TEST(Siblings, WhereNothingIsGainedTheGraphStays) {
    const Graph graph = parse_graph(of_one_form(), "siblings");
    const auto one = [](const egraph::Operator&, std::span<const TensorType>) { return 1.0; };
    EXPECT_EQ(print(rewritten(of_one_form(), one).graph), print(graph));
    // Two per cent less is not known to be less: the cost of a product is that of its columns, a slice costs
    // nothing.
    const auto by_columns = [product = rules::products(graph.symbols)](const egraph::Operator& op,
                                                                       std::span<const TensorType>) {
        if (!product->recognise(op)) return 0.0;
        const auto columns = static_cast<double>(op.results.front().shape.back().factor);
        return columns == 20 ? 0.98 * columns : columns;
    };
    EXPECT_EQ(print(rewritten(of_one_form(), by_columns).graph), print(graph));
}

TEST(Siblings, AWeightThatIsReadElsewhereIsNotStoredTwice) {
    const std::string text = replaced(of_one_form(), "output y\n", R"(
block tail
  node z(y, k_weight_0) -> z
    op matmul(t: T, n: 4, k*: 16)
    dim T in 1..8
    in X f32[t, k]
    in W f32[n, k]
    out Y f32[t, n] = sum(X * W)
output z
)");
    // A constant of the tail alone, which the layers share.
    const std::string shared =
        replaced(replaced(replaced(text, "k_weight_0", "k_weight"), "\"k.*\" for 0..1", "\"k\""),
                 "value y:", "value z: f32[T, 4]\nvalue y:");
    const Rewritten result = rewritten(shared, dear_products());
    EXPECT_THAT(print(result.graph), HasSubstr("constant k_weight: f32[4, 16] from \"k\"\n"));
    EXPECT_THAT(print(result.graph), HasSubstr("then \"v.*\" for 0..1 along 0 of 8, 8"));
    EXPECT_DOUBLE_EQ(result.blocks[0].cost_after, 23.3);
}

TEST(Siblings, AChoiceThatWouldStoreAWeightTwiceIsNotTaken) {
    // The transpose of q costs more than the product that makes it at once, which would read q's weight
    // again.
    const std::string text = replaced(of_one_form(), "output y\n", R"(  node turned(q) -> turned
    op transpose(n: 8, t: T)
    dim T in 1..8
    in X f32[t, n]
    out Y f32[n, t] = X
  node sums(turned) -> sums
    op sums(t: T, n: 8)
    dim T in 1..8
    in X f32[n, t]
    out Y f32[t, n] = exp(X)
output y
)");
    const std::string with_values =
        replaced(replaced(text, "value y:", "value turned: f32[8, T]\nvalue sums: f32[T, 8]\nvalue y:"),
                 "out Y f32[t, d] = X + Q * K + V",
                 "in S f32[t, d mod 8] of [T, 8]\n    out Y f32[t, d] = X + Q * K + V + S");
    std::string ordered = replaced(with_values, "node y(x, q, k, v) -> y", "node y(x, q, k, v, sums) -> y");
    // y reads the nodes behind it: the two nodes go before it.
    const size_t from = ordered.find("  node turned("), end = ordered.find("output y");
    const std::string nodes = ordered.substr(from, end - from);
    ordered.erase(from, end - from);
    ordered.insert(ordered.find("  node y("), nodes);
    const Rewritten result = rewritten(ordered, dear_products(100));
    EXPECT_THAT(print(result.graph), Not(HasSubstr("along 0")));
    EXPECT_LT(result.blocks[0].cost_after, 100);
}

}  // namespace
}  // namespace tessera::rules
