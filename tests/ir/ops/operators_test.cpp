#include <cmath>
#include <functional>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/interpreter.h"
#include "ir/ops/cache_update.h"
#include "ir/ops/elementwise.h"
#include "ir/ops/layer_norm.h"
#include "ir/ops/matmul.h"
#include "ir/ops/reshape.h"
#include "ir/ops/rms_norm.h"
#include "ir/ops/rope.h"
#include "ir/ops/rows.h"
#include "ir/result_type.h"

// Each operator, run by the interpreter at a size where its dims are small primes, against its formula.

namespace tessera::ops {
namespace {

const std::vector<DimSymbol> kSymbols = {{"T", 1, 8}, {"R", 1, 8}, {"P", 1, 9}};

std::vector<double> random_values(size_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<double> values;
    for (size_t i = 0; i < count; ++i)
        values.push_back(static_cast<float>(static_cast<double>(random()) / 4294967296.0 - 0.5));
    return values;
}

TensorData random_tensor(std::vector<int64_t> shape, unsigned seed) {
    size_t count = 1;
    for (const int64_t extent : shape) count *= static_cast<size_t>(extent);
    return {std::move(shape), random_values(count, seed)};
}

/// The only result; `operands` in the definition's order, without its result.
TensorData run(const DefinitionPtr& op, const std::map<std::string, int64_t>& symbols,
               std::vector<TensorData> operands, const TensorData& previous = {}) {
    verify(*op, op->name);
    operands.push_back(previous);
    return interpret(*op, bound_extents(*op, dims_of(*op, symbols), op->name), operands, op->name).at(0);
}

void expect_near(const TensorData& found, const std::vector<int64_t>& shape,
                 const std::vector<double>& expected) {
    EXPECT_EQ(found.shape, shape);
    ASSERT_EQ(found.values.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i)
        EXPECT_NEAR(found.values[i], expected[i], 1e-7 * (1 + std::abs(expected[i]))) << "element " << i;
}

TEST(Operators, EmbeddingGathersRowsAndScalesThem) {
    const TensorData table = random_tensor({5, 3}, 1);
    const TensorData ids{{2}, {4, 1}};
    const auto op = embedding(kSymbols, Dim("T"), 5, 3, WeightFormat::kF32, 2.5);
    expect_near(run(op, {{"T", 2}}, {ids, table}), {2, 3},
                {2.5 * table.values[12], 2.5 * table.values[13], 2.5 * table.values[14],
                 2.5 * table.values[3], 2.5 * table.values[4], 2.5 * table.values[5]});
    EXPECT_EQ(embedding(kSymbols, Dim("T"), 5, 3, WeightFormat::kBF16)->tensors[1].type, ElementType::kBF16);
}

TEST(Operators, SelectRowsReadsWhatIsWanted) {
    const TensorData x = random_tensor({3, 2}, 2);
    const auto op = select_rows(kSymbols, Dim("R"), Dim("T"), 2);
    expect_near(run(op, {{"T", 3}, {"R", 2}}, {{{2}, {2, 2}}, x}), {2, 2},
                {x.values[4], x.values[5], x.values[4], x.values[5]});
}

TEST(Operators, MatmulMultipliesByRowsOfTheWeightAndAddsTheBiasOnce) {
    const TensorData x = random_tensor({3, 7}, 3), w = random_tensor({5, 7}, 4), bias = random_tensor({5}, 5);
    std::vector<double> plain, biased;
    for (size_t t = 0; t < 3; ++t)
        for (size_t n = 0; n < 5; ++n) {
            double sum = 0;
            for (size_t k = 0; k < 7; ++k) sum += x.values[t * 7 + k] * w.values[n * 7 + k];
            plain.push_back(sum);
            biased.push_back(sum + bias.values[n]);
        }
    const MatmulShape shape{Dim("T"), 5, 7};
    expect_near(run(matmul(kSymbols, shape, WeightFormat::kF32), {{"T", 3}}, {x, w}), {3, 5}, plain);
    expect_near(run(matmul(kSymbols, shape, WeightFormat::kF32, ElementType::kF32), {{"T", 3}}, {x, w, bias}),
                {3, 5}, biased);
}

TEST(Operators, AddAndSwiglu) {
    const TensorData a = random_tensor({2, 3}, 6), b = random_tensor({2, 3}, 7);
    std::vector<double> sum, gated;
    for (size_t i = 0; i < 6; ++i) {
        sum.push_back(a.values[i] + b.values[i]);
        gated.push_back(a.values[i] / (1 + std::exp(-a.values[i])) * b.values[i]);
    }
    expect_near(run(add(kSymbols, Dim("T"), 3), {{"T", 2}}, {a, b}), {2, 3}, sum);
    expect_near(run(swiglu(kSymbols, Dim("T"), 3), {{"T", 2}}, {a, b}), {2, 3}, gated);
}

TEST(Operators, ActivationFunctionsGateOrStandAlone) {
    const TensorData x{{2, 3}, {-3, -0.75, 0, 0.5, 1.25, 40}}, u = random_tensor({2, 3}, 21);
    const auto cube = [](double v) { return v * v * v; };
    const std::pair<ActivationFunction, std::function<double(double)>> kFunctions[] = {
        {ActivationFunction::kSilu, [](double v) { return v / (1 + std::exp(-v)); }},
        {ActivationFunction::kGelu, [](double v) { return v / 2 * (1 + std::erf(v / std::sqrt(2.0))); }},
        {ActivationFunction::kGeluTanh,
         [&](double v) {
             return v / 2 * (1 + std::tanh(std::sqrt(2 / 3.141592653589793) * (v + 0.044715 * cube(v))));
         }},
        {ActivationFunction::kRelu, [](double v) { return std::max(v, 0.0); }}};
    for (const auto& [function, f] : kFunctions) {
        std::vector<double> alone, gate;
        for (size_t i = 0; i < 6; ++i) {
            alone.push_back(f(x.values[i]));
            gate.push_back(alone.back() * u.values[i]);
        }
        expect_near(run(activated(function, kSymbols, Dim("T"), 3), {{"T", 2}}, {x}), {2, 3}, alone);
        expect_near(run(gated(function, kSymbols, Dim("T"), 3), {{"T", 2}}, {x, u}), {2, 3}, gate);
    }
}

TEST(Operators, SoftCapBoundsTheLogits) {
    const TensorData x{{1, 3}, {-100, 0.5, 7}};
    expect_near(run(soft_cap(kSymbols, Dim("R"), 3, 5), {{"R", 1}}, {x}), {1, 3},
                {5 * std::tanh(-20), 5 * std::tanh(0.1), 5 * std::tanh(1.4)});
}

TEST(Operators, PositionsAreAddedFromTheirRows) {
    const TensorData x = random_tensor({2, 3}, 22), table = random_tensor({6, 3}, 23);
    const auto op = add_positions(kSymbols, Dim("T"), 6, 3, WeightFormat::kF32, 2);
    std::vector<double> want;
    for (size_t i = 0; i < 6; ++i) want.push_back(x.values[i] + table.values[(i < 3 ? 5 : 2) * 3 + i % 3]);
    expect_near(run(op, {{"T", 2}}, {{{2}, {3, 0}}, x, table}), {2, 3}, want);
}

TEST(Operators, ReshapesKeepTheRowMajorOrder) {
    const TensorData flat = random_tensor({2, 15}, 8);
    const TensorData heads{{2, 3, 5}, flat.values};
    expect_near(run(split_heads(kSymbols, Dim("T"), 3, 5), {{"T", 2}}, {flat}), heads.shape, flat.values);
    expect_near(run(merge_heads(kSymbols, Dim("T"), 3, 5), {{"T", 2}}, {heads}), flat.shape, flat.values);
}

TEST(Operators, RmsNormPartsGiveTheFormula) {
    constexpr double kEpsilon = 1e-2;
    const TensorData x = random_tensor({2, 3, 5}, 9), w = random_tensor({5}, 10);
    std::vector<double> expected;
    for (size_t row = 0; row < 6; ++row) {
        double squares = 0;
        for (size_t d = 0; d < 5; ++d) squares += x.values[row * 5 + d] * x.values[row * 5 + d];
        for (size_t d = 0; d < 5; ++d)
            expected.push_back(x.values[row * 5 + d] / std::sqrt(squares / 5 + kEpsilon) * w.values[d]);
    }
    const std::vector<Dim> outer = {Dim("T"), Dim(3)};
    const TensorData reciprocal = run(rms_reduce(kSymbols, outer, 5, kEpsilon), {{"T", 2}}, {x});
    EXPECT_EQ(reciprocal.shape, (std::vector<int64_t>{2, 3}));
    expect_near(run(rms_apply(kSymbols, outer, 5, ElementType::kF32), {{"T", 2}}, {x, reciprocal, w}),
                {2, 3, 5}, expected);
}

TEST(Operators, RopeRotatesHalvesOrPairs) {
    constexpr size_t kWidth = 6, kHalf = 3, kHeads = 2, kRows = 3;
    const TensorData x = random_tensor({kRows, kHeads, kWidth}, 11);
    const TensorData cos = random_tensor({7, kHalf}, 12), sin = random_tensor({7, kHalf}, 13);
    const TensorData position{{kRows}, {4, 0, 6}};
    for (const RopeForm form : {RopeForm::kHalves, RopeForm::kPairs}) {
        std::vector<double> expected(x.values.size());
        for (size_t row = 0; row < kRows * kHeads; ++row)
            for (size_t i = 0; i < kHalf; ++i) {
                const size_t table = static_cast<size_t>(position.values[row / kHeads]) * kHalf + i;
                const size_t a = row * kWidth + (form == RopeForm::kHalves ? i : 2 * i);
                const size_t b = row * kWidth + (form == RopeForm::kHalves ? i + kHalf : 2 * i + 1);
                expected[a] = x.values[a] * cos.values[table] - x.values[b] * sin.values[table];
                expected[b] = x.values[b] * cos.values[table] + x.values[a] * sin.values[table];
            }
        const RopeShape shape{Dim("T"), kHeads, kWidth, 7};
        expect_near(run(rope(kSymbols, shape, form), {{"T", kRows}}, {position, x, cos, sin}), x.shape,
                    expected);
    }
}

TEST(Operators, RopeTurnsBackByTheNegativeAngle) {
    constexpr size_t kWidth = 6, kHeads = 2, kRows = 3;
    const TensorData x = random_tensor({kRows, kHeads, kWidth}, 11);
    const TensorData cos = random_tensor({7, kWidth / 2}, 12), sin = random_tensor({7, kWidth / 2}, 13);
    const TensorData position{{kRows}, {4, 0, 6}};
    TensorData negative = sin;
    for (double& each : negative.values) each = -each;
    for (const RopeForm form : {RopeForm::kHalves, RopeForm::kPairs}) {
        const RopeShape forward{Dim("T"), kHeads, kWidth, 7}, back{Dim("T"), kHeads, kWidth, 7, 0, true};
        const TensorData expected =
            run(rope(kSymbols, forward, form), {{"T", kRows}}, {position, x, cos, negative});
        expect_near(run(rope(kSymbols, back, form), {{"T", kRows}}, {position, x, cos, sin}), x.shape,
                    expected.values);
    }
}

TEST(Operators, RopeLeavesTheRestOfAHead) {
    constexpr size_t kWidth = 7, kRotated = 4, kHeads = 2, kRows = 3;
    const TensorData x = random_tensor({kRows, kHeads, kWidth}, 11);
    const TensorData cos = random_tensor({7, kRotated / 2}, 12), sin = random_tensor({7, kRotated / 2}, 13);
    const TensorData position{{kRows}, {4, 0, 6}};
    for (const RopeForm form : {RopeForm::kHalves, RopeForm::kPairs}) {
        TensorData head{{kRows, kHeads, kRotated}, {}};
        for (size_t row = 0; row < kRows * kHeads; ++row)
            for (size_t i = 0; i < kRotated; ++i) head.values.push_back(x.values[row * kWidth + i]);
        const TensorData turned = run(rope(kSymbols, {Dim("T"), kHeads, kRotated, 7}, form), {{"T", kRows}},
                                      {position, head, cos, sin});
        std::vector<double> expected = x.values;
        for (size_t row = 0; row < kRows * kHeads; ++row)
            std::copy_n(turned.values.begin() + static_cast<std::ptrdiff_t>(row * kRotated), kRotated,
                        expected.begin() + static_cast<std::ptrdiff_t>(row * kWidth));
        const RopeShape shape{Dim("T"), kHeads, kWidth, 7, kRotated};
        expect_near(run(rope(kSymbols, shape, form), {{"T", kRows}}, {position, x, cos, sin}), x.shape,
                    expected);
    }
}

TEST(Operators, CacheUpdateKeepsWhatItDoesNotWrite) {
    const TensorData x = random_tensor({2, 1, 2}, 14);
    TensorData cache = random_tensor({2, kPageSlots, 1, 2}, 15);
    const auto op = cache_update(kSymbols, Dim("T"), Dim("P"), 1, 2, ElementType::kF32);
    const TensorData found = run(op, {{"T", 2}, {"P", 2}}, {{{2}, {17, 3}}, x}, cache);
    std::copy_n(x.values.begin(), 2, cache.values.begin() + 17 * 2);
    std::copy_n(x.values.begin() + 2, 2, cache.values.begin() + 3 * 2);
    expect_near(found, cache.shape, cache.values);
}

TEST(Operators, DimsAreTheSymbolsThatTheTextNames) {
    const auto op = cache_update(kSymbols, Dim("T"), Dim("P"), 1, 2, ElementType::kF32);
    ASSERT_EQ(op->dims.size(), 2u);
    EXPECT_EQ(op->dims[0], kSymbols[0]);
    EXPECT_EQ(op->dims[1], kSymbols[2]);
    EXPECT_TRUE(add(kSymbols, Dim(4), 3)->dims.empty());
}

TEST(ResultType, KeepsSymbols) {
    const auto op = cache_update(kSymbols, Dim("T"), Dim("P", 2), 1, 2, ElementType::kF32);
    const TensorType type = type_of(*op, op->results()[0], "test");
    EXPECT_EQ(type.shape, (std::vector<Dim>{Dim("P", 2), Dim(16), Dim(1), Dim(2)}));
    const Definition window =
        parse_definition("op w(y: 4, i*: 3)\nin X f32[y + i]\nout Y f32[y] = sum(X)\n", "w");
    EXPECT_EQ(type_of(window, 0, "w").shape, (std::vector<Dim>{Dim(6)}));
    const Definition sum =
        parse_definition("op w(y: T + 1)\ndim T in 1..8\nin X f32[y]\nout Y f32[y] = X\n", "w");
    EXPECT_ANY_THROW((void)type_of(sum, 1, "w"));
}

}  // namespace
}  // namespace tessera::ops
