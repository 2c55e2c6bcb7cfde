#include "ir/ops/matmul.h"

#include <fmt/core.h>

namespace tessera::ops {

DefinitionPtr matmul(Symbols symbols, const MatmulShape& shape, WeightFormat weight,
                     std::optional<ElementType> bias, Activation input) {
    const WeightText w = weight_text(weight, "W", "n", "k", shape.inputs);
    std::string more, x = "X";
    if (input.radix > 1) {
        more += fmt::format("in  XL {}[t, k]\n", name(input.element));
        x = fmt::format("(X * {} + XL)", input.radix);
    }
    if (input.block > 1) {
        more += fmt::format("in  XS f32[t, k div {}]\n", input.block);
        x += " * XS";
    }
    return define(symbols, fmt::format(
                               R"(op matmul(t: {rows}, n: {outputs}, k*: {inputs})
in  X {input}[t, k]
{more}{weight}{bias}out Y f32[t, n] = sum({x} * {value}){add}
)",
                               fmt::arg("rows", text(shape.rows)), fmt::arg("outputs", shape.outputs),
                               fmt::arg("inputs", shape.inputs), fmt::arg("input", name(input.element)),
                               fmt::arg("more", more), fmt::arg("x", x), fmt::arg("weight", w.operands),
                               fmt::arg("value", w.value),
                               fmt::arg("bias", bias ? fmt::format("in  bias {}[n]\n", name(*bias)) : ""),
                               fmt::arg("add", bias ? " + bias" : "")));
}

}  // namespace tessera::ops
