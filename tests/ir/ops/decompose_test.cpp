#include "ir/ops/decompose.h"

#include <cmath>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/graph_interpreter.h"
#include "ir/ops/attention.h"
#include "ir/ops/block_builder.h"
#include "ir/ops/cache_update.h"
#include "ir/ops/layer_norm.h"
#include "ir/ops/rms_norm.h"
#include "support/error.h"

// Decompositions against the formula of the composite, computed by plain loops.

namespace tessera::ops {
namespace {

using ::testing::HasSubstr;

/// A graph of one composite, whose operands are inputs.
struct CompositeGraph {
    Graph graph;
    std::map<std::string, TensorData> contents;
    std::vector<ValueId> operands;
    std::map<std::string, int64_t> symbols;
    std::mt19937 random{1};

    void operand(const std::string& name, ElementType type, std::vector<Dim> shape,
                 std::vector<double> values = {}) {
        TensorData data{evaluate(shape, symbols), std::move(values)};
        size_t count = 1;
        for (const int64_t extent : data.shape) count *= static_cast<size_t>(extent);
        while (data.values.size() < count)
            data.values.push_back(static_cast<float>(static_cast<double>(random()) / 4294967296.0 - 0.5));
        operands.push_back({static_cast<int>(graph.values.size())});
        graph.values.push_back(
            {.name = name, .kind = ValueKind::kInput, .type = {.element = type, .shape = std::move(shape)}});
        contents[name] = std::move(data);
    }
    void composite(Composite composite, std::vector<Dim> result) {
        Block block{.name = "only"};
        ops::BlockBuilder builder(graph, block);
        graph.outputs = {builder.add("y", std::move(composite), operands, {.shape = std::move(result)})};
        graph.blocks.push_back(std::move(block));
    }
    TensorData run() const {
        const Graph structured = decompose(graph);
        verify(graph, "composite");
        verify(structured, "decomposed");
        return interpret_graph(structured, {.symbols = symbols, .inputs = contents}).outputs.at(0);
    }
    double at(const std::string& name, size_t index) const { return contents.at(name).values.at(index); }
};

TEST(Decompose, RmsNormOfRowsAndOfHeads) {
    for (const std::vector<Dim>& outer : {std::vector<Dim>{Dim("T")}, std::vector<Dim>{Dim("T"), Dim(3)}}) {
        CompositeGraph g;
        g.graph.symbols = {{"T", 1, 8}};
        g.symbols = {{"T", 2}};
        std::vector<Dim> shape = outer;
        shape.emplace_back(7);
        g.operand("x", ElementType::kF32, shape);
        g.operand("w", ElementType::kF32, {Dim(7)});
        g.composite(ops::rms_norm(1e-3), shape);
        const TensorData y = g.run();
        ASSERT_EQ(y.shape, evaluate(shape, g.symbols));
        for (size_t row = 0; row < y.values.size() / 7; ++row) {
            double squares = 0;
            for (size_t d = 0; d < 7; ++d) squares += g.at("x", row * 7 + d) * g.at("x", row * 7 + d);
            for (size_t d = 0; d < 7; ++d)
                EXPECT_NEAR(y.values[row * 7 + d],
                            g.at("x", row * 7 + d) / std::sqrt(squares / 7 + 1e-3) * g.at("w", d), 1e-6);
        }
    }
}

TEST(Decompose, RmsNormWhoseScalesAreStoredFromOne) {
    CompositeGraph g;
    g.operand("x", ElementType::kF32, {Dim(2), Dim(7)});
    g.operand("w", ElementType::kF32, {Dim(7)});
    g.composite(ops::rms_norm(1e-3, 1), {Dim(2), Dim(7)});
    const TensorData y = g.run();
    for (size_t i = 0; i < y.values.size(); ++i) {
        double squares = 0;
        for (size_t d = 0; d < 7; ++d) squares += std::pow(g.at("x", i / 7 * 7 + d), 2);
        EXPECT_NEAR(y.values[i], g.at("x", i) / std::sqrt(squares / 7 + 1e-3) * (1 + g.at("w", i % 7)), 1e-6);
    }
}

TEST(Decompose, LayerNormOfRows) {
    CompositeGraph g;
    g.graph.symbols = {{"T", 1, 8}};
    g.symbols = {{"T", 2}};
    g.operand("x", ElementType::kF32, {Dim("T"), Dim(7)});
    g.operand("w", ElementType::kF32, {Dim(7)});
    g.operand("b", ElementType::kF32, {Dim(7)});
    g.composite(ops::layer_norm(1e-3), {Dim("T"), Dim(7)});
    const TensorData y = g.run();
    for (size_t i = 0; i < y.values.size(); ++i) {
        double mean = 0, variance = 0;
        for (size_t d = 0; d < 7; ++d) mean += g.at("x", i / 7 * 7 + d) / 7;
        for (size_t d = 0; d < 7; ++d) variance += std::pow(g.at("x", i / 7 * 7 + d) - mean, 2) / 7;
        const double want =
            (g.at("x", i) - mean) / std::sqrt(variance + 1e-3) * g.at("w", i % 7) + g.at("b", i % 7);
        EXPECT_NEAR(y.values[i], want, 2e-6);
    }
}

TEST(Decompose, ANormMayHaveNoScalesOrThoseOfEachHead) {
    for (const bool is_rms : {true, false})
        for (const bool has_scales : {true, false}) {
            CompositeGraph g;
            g.graph.symbols = {{"T", 1, 8}};
            g.symbols = {{"T", 2}};
            g.operand("x", ElementType::kF32, {Dim("T"), Dim(3), Dim(5)});
            if (has_scales) g.operand("w", ElementType::kF32, {Dim(3), Dim(5)});
            g.composite(is_rms ? ops::rms_norm(1e-3) : ops::layer_norm(1e-3, 1), {Dim("T"), Dim(3), Dim(5)});
            const TensorData y = g.run();
            for (size_t i = 0; i < y.values.size(); ++i) {
                double mean = 0, squares = 0;
                for (size_t d = 0; d < 5; ++d) mean += is_rms ? 0 : g.at("x", i / 5 * 5 + d) / 5;
                for (size_t d = 0; d < 5; ++d) squares += std::pow(g.at("x", i / 5 * 5 + d) - mean, 2) / 5;
                const double scale = has_scales ? g.at("w", i % 15) + (is_rms ? 0 : 1) : 1;
                EXPECT_NEAR(y.values[i], (g.at("x", i) - mean) / std::sqrt(squares + 1e-3) * scale, 2e-6);
            }
        }
}

/// A mixed batch: a prompt of 5 behind 14 cached tokens, one token alone at the start, and one behind a full
/// page. The pages of the sequences lie scattered; pages that no sequence owns hold garbage.
class AttentionDecomposition : public ::testing::Test {
protected:
    static constexpr int64_t kRows = 8, kHeads = 6, kCacheHeads = 2, kWidth = 4, kPages = 5, kTable = 2;
    static constexpr double kScale = 0.3;
    const std::vector<double> first_ = {2, 0, 1}, length_ = {5, 1, 1}, start_ = {14, 0, 16};
    const std::vector<double> page_ = {3, 0, 1, 99, 4, 2};  // sequence 1 needs one page only

    AttentionDecomposition() {
        g_.graph.symbols = {{"T", 1, 16}, {"B", 1, 4}, {"I", 1, 16}, {"S", 16, 32, 16}, {"P", 1, 8}};
        g_.symbols = {{"T", kRows}, {"B", 3}, {"I", 5}, {"S", 32}, {"P", kPages}};
        const std::vector<Dim> cache = {Dim("P"), Dim(ops::kPageSlots), Dim(kCacheHeads), Dim(kWidth)};
        g_.operand("q", ElementType::kF32, {Dim("T"), Dim(kHeads), Dim(kWidth)});
        g_.operand("k", ElementType::kF32, cache);
        g_.operand("v", ElementType::kF32, cache);
        g_.operand("first", ElementType::kI32, {Dim("B")}, first_);
        g_.operand("length", ElementType::kI32, {Dim("B")}, length_);
        g_.operand("start", ElementType::kI32, {Dim("B")}, start_);
        g_.operand("page", ElementType::kI32, {Dim("B"), Dim(kTable)}, page_);
    }

    double cached(const char* cache, size_t b, size_t s, size_t head, size_t e) const {
        const auto page = static_cast<size_t>(page_[b * kTable + s / 16]);
        return g_.at(cache,
                     ((page * 16 + s % 16) * kCacheHeads + head / (kHeads / kCacheHeads)) * kWidth + e);
    }

    /// `cap` and `window`: 0 without. `slopes` and `sinks`: of each head, empty without.
    std::vector<double> expected(double cap = 0, int64_t window = 0, const std::vector<double>& slopes = {},
                                 const std::vector<double>& sinks = {}) const {
        std::vector<double> y(kRows * kHeads * kWidth, 0.0);
        for (size_t b = 0; b < 3; ++b)
            for (size_t i = 0; i < static_cast<size_t>(length_[b]); ++i)
                for (size_t h = 0; h < kHeads; ++h) {
                    const size_t row = ((static_cast<size_t>(first_[b]) + i) * kHeads + h) * kWidth;
                    double sum = sinks.empty() ? 0 : std::exp(sinks[h]);
                    const auto last = static_cast<int64_t>(start_[b]) + static_cast<int64_t>(i);
                    const int64_t begin = window == 0 ? 0 : std::max<int64_t>(last - window + 1, 0);
                    for (auto s = static_cast<size_t>(begin); s <= static_cast<size_t>(last); ++s) {
                        double score = 0;
                        for (size_t e = 0; e < kWidth; ++e)
                            score += g_.at("q", row + e) * cached("k", b, s, h, e);
                        score *= kScale;
                        if (cap != 0) score = cap * std::tanh(score / cap);
                        if (!slopes.empty())
                            score -= slopes[h] * static_cast<double>(last - static_cast<int64_t>(s));
                        const double weight = std::exp(score);
                        sum += weight;
                        for (size_t d = 0; d < kWidth; ++d) y[row + d] += weight * cached("v", b, s, h, d);
                    }
                    for (size_t d = 0; d < kWidth; ++d) y[row + d] /= sum;
                }
        return y;
    }

    CompositeGraph g_;
};

TEST_F(AttentionDecomposition, IsSoftmaxOverTheTokensOfEachSequence) {
    g_.composite(ops::attention({.scale = kScale}), g_.graph.values[0].type.shape);
    const TensorData y = g_.run();
    const std::vector<double> want = expected();
    ASSERT_EQ(y.values.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(y.values[i], want[i], 1e-6) << "element " << i;
}

TEST_F(AttentionDecomposition, CapsTheScoresAndSeesNoFurtherThanTheWindow) {
    g_.composite(ops::attention({.scale = kScale, .cap = 0.05, .window = 3}), g_.graph.values[0].type.shape);
    const TensorData y = g_.run();
    const std::vector<double> want = expected(0.05, 3);
    for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(y.values[i], want[i], 1e-6) << "element " << i;
    const std::vector<double> plain = expected();
    EXPECT_NE(want, plain) << "both act";
}

TEST_F(AttentionDecomposition, PenalisesDistancesAndLetsWeightsGoNowhere) {
    const std::vector<double> slopes = {0.5, 0.25, 0.125, 0.75, 0.0, 0.375}, sinks = {2, -1, 0.5, -30, 30, 0};
    g_.operand("slopes", ElementType::kF32, {Dim(kHeads)}, slopes);
    g_.operand("sinks", ElementType::kF32, {Dim(kHeads)}, sinks);
    g_.composite(ops::attention({.scale = kScale, .has_slopes = true, .has_sinks = true}),
                 g_.graph.values[0].type.shape);
    const TensorData y = g_.run();
    const std::vector<double> want = expected(0, 0, slopes, sinks);
    for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(y.values[i], want[i], 1e-6) << "element " << i;
    EXPECT_NE(want, expected(0, 0, slopes)) << "sinks act";
    EXPECT_NE(want, expected(0, 0, {}, sinks)) << "slopes act";
}

TEST_F(AttentionDecomposition, RoundsWhatIsMultipliedWithTheCache) {
    g_.composite(ops::attention({.scale = kScale, .rounded = ElementType::kBF16}),
                 g_.graph.values[0].type.shape);
    const Graph graph = decompose(g_.graph);
    const auto made = [&](const char* name) { return graph[*graph.find(name)].type.element; };
    EXPECT_EQ(made("y_gather"), ElementType::kBF16);
    EXPECT_EQ(made("y_scores"), ElementType::kF32);
    for (const Node& node : graph.blocks[0].nodes) {
        const bool has_weights = node.definition()->monoid == Monoid::kSoftmaxSum;
        EXPECT_EQ(node.definition()->weights, has_weights ? ElementType::kBF16 : ElementType::kF32);
    }
    const TensorData y = g_.run();
    const std::vector<double> want = expected();
    for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(y.values[i], want[i], 0x1p-7) << "element " << i;
}

// Keys and values as bytes and scales, beside the same attention over the numbers that these stand for.
TEST(AttentionOfBytes, IsThatOfTheNumbersTheyStandFor) {
    constexpr int64_t kWidth = 64, kPages = 3, kCacheHeads = 2, kRows = 3, kBlock = 32;
    const auto run = [&](bool has_scales) {
        CompositeGraph g;
        g.graph.symbols = {{"T", 1, 16}, {"B", 1, 4}, {"I", 1, 16}, {"S", 16, 32, 16}, {"P", 1, 8}};
        g.symbols = {{"T", kRows}, {"B", 2}, {"I", 2}, {"S", 32}, {"P", kPages}};
        std::vector<double> bytes[2], scales[2], numbers[2];
        for (int c = 0; c < 2; ++c)
            for (int64_t i = 0; i < kPages * ops::kPageSlots * kCacheHeads * kWidth; ++i) {
                if (i % kBlock == 0) scales[c].push_back(std::ldexp(1 + static_cast<double>(i % 3), -9));
                bytes[c].push_back(static_cast<double>((i * (37 + c) + 11) % 255 - 127));
                numbers[c].push_back(bytes[c].back() * scales[c].back());
            }
        const auto cache = [&](int64_t width) {
            return std::vector<Dim>{Dim("P"), Dim(ops::kPageSlots), Dim(kCacheHeads), Dim(width)};
        };
        const ElementType type = has_scales ? ElementType::kI8 : ElementType::kF32;
        g.operand("q", ElementType::kF32, {Dim("T"), Dim(4), Dim(kWidth)});
        g.operand("k", type, cache(kWidth), has_scales ? bytes[0] : numbers[0]);
        g.operand("v", type, cache(kWidth), has_scales ? bytes[1] : numbers[1]);
        g.operand("first", ElementType::kI32, {Dim("B")}, {0, 1});
        g.operand("length", ElementType::kI32, {Dim("B")}, {1, 2});
        g.operand("start", ElementType::kI32, {Dim("B")}, {20, 3});
        g.operand("page", ElementType::kI32, {Dim("B"), Dim(2)}, {2, 0, 1, 0});
        if (has_scales) {
            g.operand("k_d", ElementType::kF16, cache(kWidth / kBlock), scales[0]);
            g.operand("v_d", ElementType::kF16, cache(kWidth / kBlock), scales[1]);
        }
        g.composite(ops::attention({.scale = 0.1, .has_scales = has_scales}), g.graph.values[0].type.shape);
        return g.run().values;
    };
    const std::vector<double> found = run(true), want = run(false);
    ASSERT_EQ(found.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(found[i], want[i], 1e-6) << "element " << i;
}

TEST_F(AttentionDecomposition, RefusesHeadsThatBlocksDoNotDivide) {
    g_.graph.values[1].type.element = g_.graph.values[2].type.element = ElementType::kI8;
    for (const char* scales : {"k_d", "v_d"})
        g_.operand(scales, ElementType::kF16, {Dim("P"), Dim(ops::kPageSlots), Dim(kCacheHeads), Dim(1)});
    g_.composite(ops::attention({.scale = kScale, .has_scales = true}), g_.graph.values[0].type.shape);
    EXPECT_THROW((void)decompose(g_.graph), Error);
}

TEST_F(AttentionDecomposition, RefusesHeadsThatDoNotDivide) {
    g_.graph.values[0].type.shape[1] = Dim(5);
    g_.composite(ops::attention({.scale = kScale}), g_.graph.values[0].type.shape);
    EXPECT_THROW((void)decompose(g_.graph), Error);
}

void expect_refused(Composite composite, const char* message) {
    CompositeGraph g;
    g.operand("x", ElementType::kF32, {Dim(2), Dim(4)});
    g.composite(std::move(composite), {Dim(2), Dim(4)});
    try {
        (void)decompose(g.graph);
        FAIL() << "was accepted";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr(message));
    }
}

TEST(Decompose, NamesWhatIsWrong) {
    expect_refused({.kind = "norm"}, "there is no composite operator norm");
    expect_refused({.kind = "rms_norm"}, "needs the attribute epsilon");
    expect_refused({.kind = "attention"}, "operand x has 2 axes, expected 3");
}

TEST(Decompose, AttributesAreChecked) {
    for (const bool has_epsilon : {false, true}) {
        CompositeGraph g;
        g.operand("x", ElementType::kF32, {Dim(2), Dim(4)});
        g.operand("w", ElementType::kF32, {Dim(4)});
        Composite norm{.kind = "rms_norm"};
        if (has_epsilon) norm.attributes["epsilon"] = int64_t{1};
        g.composite(norm, {Dim(2), Dim(4)});
        EXPECT_THROW((void)decompose(g.graph), Error);
    }
}

}  // namespace
}  // namespace tessera::ops
