#include "row_operators.h"

#include <fmt/format.h>

#include "import/policy.h"
#include "ir/ops/activation.h"
#include "ir/ops/elementwise.h"
#include "ir/ops/rms_norm.h"
#include "ir/ops/rope.h"
#include "ir/ops/rows.h"

namespace tessera {
namespace {

constexpr double kEpsilon = 1e-6;

/// So many that the overhead of a call is negligible.
constexpr int64_t kRepetitions = 64;

Instance named(const char* what, int64_t of, int64_t rows) {
    return {.name = fmt::format("{} {} T={}", what, of, rows), .graph = {}};
}

ValueId positions(InstanceBuilder& g, int64_t rows) {
    std::vector<double> position;
    for (int64_t i = 0; i < rows; ++i) position.push_back(static_cast<double>(i));
    return g.indices("position", {rows}, position);
}

void rotate(InstanceBuilder& g, ValueId position, ValueId x, int64_t rows, int64_t heads) {
    constexpr int64_t kPositions = 1024;
    g.node("y", ops::rope({}, {Dim(rows), heads, kHeadWidth, kPositions}, ops::RopeForm::kHalves),
           {position, x, g.input("cos", {kPositions, kHeadWidth / 2}),
            g.input("sin", {kPositions, kHeadWidth / 2})});
}

}  // namespace

Instance norm_sum(int64_t rows, int64_t width) {
    Instance instance = named("norm sum", width, rows);
    InstanceBuilder g(instance, kRepetitions);
    g.node("y", ops::rms_reduce({}, {Dim(rows)}, width, kEpsilon), {g.input("x", {rows, width})});
    return instance;
}

Instance norm_product(int64_t rows, int64_t width) {
    Instance instance = named("norm product", width, rows);
    InstanceBuilder g(instance, kRepetitions);
    g.node("y", ops::rms_apply({}, {Dim(rows)}, width, ElementType::kF32, ElementType::kBF16),
           {g.input("x", {rows, width}), g.input("r", {rows}), g.constant("w", {width})});
    return instance;
}

Instance norm(int64_t rows, int64_t width) {
    Instance instance = named("norm", width, rows);
    InstanceBuilder g(instance, kRepetitions);
    const ValueId x = g.input("x", {rows, width});
    const ValueId r = g.node("r", ops::rms_reduce({}, {Dim(rows)}, width, kEpsilon), {x});
    g.node("y", ops::rms_apply({}, {Dim(rows)}, width, ElementType::kF32, ElementType::kBF16),
           {x, r, g.constant("w", {width})});
    return instance;
}

Instance rope(int64_t rows, int64_t heads) {
    Instance instance = named("rope heads", heads, rows);
    InstanceBuilder g(instance, kRepetitions);
    const ValueId position = positions(g, rows);
    rotate(g, position, g.input("x", {rows, heads, kHeadWidth}), rows, heads);
    return instance;
}

Instance norm_and_rope(int64_t rows, int64_t heads) {
    Instance instance = named("norm and rope heads", heads, rows);
    InstanceBuilder g(instance, kRepetitions);
    const ValueId position = positions(g, rows), x = g.input("x", {rows, heads, kHeadWidth});
    const ValueId r = g.node("r", ops::rms_reduce({}, {Dim(rows), Dim(heads)}, kHeadWidth, kEpsilon), {x});
    const ValueId normed =
        g.node("normed", ops::rms_apply({}, {Dim(rows), Dim(heads)}, kHeadWidth, ElementType::kF32),
               {x, r, g.constant("w", {kHeadWidth})});
    rotate(g, position, normed, rows, heads);
    return instance;
}

Instance swiglu(int64_t rows, int64_t width) {
    Instance instance = named("swiglu", width, rows);
    InstanceBuilder g(instance, kRepetitions);
    g.node("y", ops::swiglu({}, Dim(rows), width, ElementType::kBF16),
           {g.input("gate", {rows, width}), g.input("up", {rows, width})});
    return instance;
}

Instance add(int64_t rows, int64_t width) {
    Instance instance = named("add", width, rows);
    InstanceBuilder g(instance, kRepetitions);
    g.node("y", ops::add({}, Dim(rows), width), {g.input("a", {rows, width}), g.input("b", {rows, width})});
    return instance;
}

Instance cast(int64_t rows, int64_t width) {
    Instance instance = named("cast", width, rows);
    InstanceBuilder g(instance, kRepetitions);
    const DefinitionPtr to_bf16 = ops::define(
        {}, fmt::format("op cast(t: {}, d: {})\nin  X f32[t, d]\nout Y bf16[t, d] = X\n", rows, width));
    g.node("y", to_bf16, {g.input("x", {rows, width})});
    return instance;
}

Instance round(int64_t rows, int64_t width) {
    Instance instance = named("round", width, rows);
    InstanceBuilder g(instance, kRepetitions);
    const ops::WeightFormat reader = ops::WeightFormat::kQ8_0;
    const ops::Activation blocks = import::activation_of(import::Policy::kDefault, {&reader, 1}, width);
    g.node("y", ops::round_to_blocks({}, Dim(rows), width, blocks),
           {g.input("x", {rows, width}), g.input("scale", {rows, width / blocks.block})});
    return instance;
}

Instance embedding(int64_t rows, int64_t vocabulary, int64_t width) {
    constexpr int64_t kPrime = 7919;
    Instance instance = named("embedding", width, rows);
    InstanceBuilder g(instance, 1);
    std::vector<double> tokens;
    for (int64_t i = 0; i < rows; ++i) tokens.push_back(static_cast<double>((i + 1) * kPrime % vocabulary));
    g.node("y", ops::embedding({}, Dim(rows), vocabulary, width, ops::WeightFormat::kBF16),
           {g.indices("token", {rows}, tokens), g.constant("w", {vocabulary, width}, ElementType::kBF16)});
    return instance;
}

}  // namespace tessera
