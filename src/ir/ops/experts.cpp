#include "ir/ops/experts.h"

#include <fmt/core.h>

namespace tessera::ops {
namespace {

/// `pattern` with {rows}, {experts} and {chosen} replaced.
DefinitionPtr define_experts(Symbols symbols, const ExpertShape& shape, fmt::string_view pattern) {
    const std::string rows = text(shape.rows);
    return define(
        symbols,
        fmt::format(fmt::runtime(pattern), fmt::arg("rows", rows), fmt::arg("experts", shape.experts),
                    fmt::arg("last", shape.experts - 1), fmt::arg("chosen", shape.chosen)));
}

/// The matrix of a place.
struct PlaceMatrix {
    int64_t outputs, inputs;
    bool has_own_inputs;
};

/// Products of each place with a matrix, whose operands and value `weight` has.
DefinitionPtr define_products(Symbols symbols, const ExpertShape& shape, const PlaceMatrix& matrix,
                              std::string_view name, std::string_view index, const WeightText& weight) {
    return define(symbols, fmt::format(R"(op {name}(t: {rows}, j: {chosen}, n: {outputs}, k*: {inputs})
{index}in  X f32[{own}k]
{weight}out Y f32[t, j, n] = sum(X * {value})
)",
                                       fmt::arg("name", name), fmt::arg("index", index),
                                       fmt::arg("rows", text(shape.rows)), fmt::arg("chosen", shape.chosen),
                                       fmt::arg("outputs", matrix.outputs), fmt::arg("inputs", matrix.inputs),
                                       fmt::arg("own", matrix.has_own_inputs ? "t, j, " : "t, "),
                                       fmt::arg("weight", weight.operands), fmt::arg("value", weight.value)));
}

}  // namespace

DefinitionPtr expert_ranks(Symbols symbols, const ExpertShape& shape) {
    return define_experts(symbols, shape, R"(op expert_ranks(t: {rows}, e: {experts}, f*: {experts})
in  X f32[t, f]
in  Z f32[t, e]
out Y f32[t, e] = sum(select(X > Z or X == Z and f < e, 1, 0))
)");
}

// The bound keeps whatever is no permutation inside of the weights.
DefinitionPtr chosen_experts(Symbols symbols, const ExpertShape& shape) {
    return define_experts(symbols, shape, R"(op chosen_experts(t: {rows}, j: {chosen}, e*: {experts})
in  X f32[t, e]
out Y i32[t, j] = min(sum(select(X == j, e, 0)), {last})
)");
}

DefinitionPtr largest_score(Symbols symbols, const ExpertShape& shape) {
    return define_experts(symbols, shape, R"(op largest_score(t: {rows}, e*: {experts})
in  X f32[t, e]
out Y f32[t] = max(X)
)");
}

DefinitionPtr place_weights(Symbols symbols, const ExpertShape& shape) {
    return define_experts(symbols, shape, R"(op place_weights(t: {rows}, j: {chosen})
index choice i32[t, j]
in  X f32[t, choice[t, j]] of [{rows}, {experts}]
in  M f32[t]
out Y f32[t, j] = exp(X - M)
)");
}

DefinitionPtr sum_of_weights(Symbols symbols, const ExpertShape& shape) {
    return define_experts(symbols, shape, R"(op sum_of_weights(t: {rows}, e*: {experts})
in  X f32[t, e]
in  M f32[t]
out Y f32[t] = sum(exp(X - M))
)");
}

DefinitionPtr sum_of_places(Symbols symbols, const ExpertShape& shape) {
    return define_experts(symbols, shape, R"(op sum_of_places(t: {rows}, j*: {chosen})
in  X f32[t, j]
out Y f32[t] = sum(X)
)");
}

DefinitionPtr place_shares(Symbols symbols, const ExpertShape& shape) {
    return define_experts(symbols, shape, R"(op place_shares(t: {rows}, j: {chosen})
in  X f32[t, j]
in  Z f32[t]
out Y f32[t, j] = X / Z
)");
}

DefinitionPtr expert_matmul(Symbols symbols, const ExpertShape& shape, int64_t outputs, int64_t inputs,
                            WeightFormat weight, bool has_own_inputs) {
    const WeightText w = weight_text(weight, "W", fmt::format("choice[t, j] * {} + n", outputs), "k", inputs,
                                     shape.experts * outputs);
    return define_products(symbols, shape, {outputs, inputs, has_own_inputs}, "expert_matmul",
                           "index choice i32[t, j]\n", w);
}

DefinitionPtr matmul_of_each(Symbols symbols, const ExpertShape& shape, int64_t outputs, int64_t inputs,
                             WeightFormat weight, bool has_own_inputs) {
    const WeightText w =
        weight_text(weight, "W", fmt::format("j * {} + n", outputs), "k", inputs, shape.chosen * outputs);
    return define_products(symbols, shape, {outputs, inputs, has_own_inputs}, "matmul_of_each", "", w);
}

DefinitionPtr expert_gated(ActivationFunction f, Symbols symbols, const ExpertShape& shape, int64_t width) {
    return define(symbols, fmt::format(R"(op expert_gated(t: {}, j: {}, n: {})
in  G f32[t, j, n]
in  U f32[t, j, n]
out Y f32[t, j, n] = {} * U
)",
                                       text(shape.rows), shape.chosen, width, applied(f, "G")));
}

DefinitionPtr sum_of_experts(Symbols symbols, const ExpertShape& shape, int64_t width) {
    return define(symbols, fmt::format(R"(op sum_of_experts(t: {}, d: {}, j*: {})
in  X f32[t, j, d]
in  share f32[t, j]
out Y f32[t, d] = sum(X * share)
)",
                                       text(shape.rows), width, shape.chosen));
}

}  // namespace tessera::ops
