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
    const std::string row = fmt::format("choice[t, j] * {} + n", outputs);
    const WeightText w = weight_text(weight, "W", row, "k", inputs, shape.experts * outputs);
    return define(symbols, fmt::format(R"(op expert_matmul(t: {rows}, j: {chosen}, n: {outputs}, k*: {inputs})
index choice i32[t, j]
in  X f32[{own}k]
{weight}out Y f32[t, j, n] = sum(X * {value})
)",
                                       fmt::arg("rows", text(shape.rows)), fmt::arg("chosen", shape.chosen),
                                       fmt::arg("outputs", outputs), fmt::arg("inputs", inputs),
                                       fmt::arg("own", has_own_inputs ? "t, j, " : "t, "),
                                       fmt::arg("weight", w.operands), fmt::arg("value", w.value)));
}

DefinitionPtr matmul_of_each(Symbols symbols, const ExpertShape& shape, int64_t outputs, int64_t inputs,
                             WeightFormat weight, bool has_own_inputs) {
    const WeightText w =
        weight_text(weight, "W", fmt::format("j * {} + n", outputs), "k", inputs, shape.chosen * outputs);
    return define(symbols,
                  fmt::format(R"(op matmul_of_each(t: {rows}, j: {chosen}, n: {outputs}, k*: {inputs})
in  X f32[{own}k]
{weight}out Y f32[t, j, n] = sum(X * {value})
)",
                              fmt::arg("rows", text(shape.rows)), fmt::arg("chosen", shape.chosen),
                              fmt::arg("outputs", outputs), fmt::arg("inputs", inputs),
                              fmt::arg("own", has_own_inputs ? "t, j, " : "t, "),
                              fmt::arg("weight", w.operands), fmt::arg("value", w.value)));
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
