#include "ops/matmul.h"

#include <fmt/format.h>

namespace tessera::ops {

DefinitionPtr matmul(Symbols symbols, const MatmulShape& shape, WeightFormat weight,
                     std::optional<ElementType> bias, ElementType input) {
    const WeightText w = weight_text(weight, "W", "n", "k", shape.inputs);
    return define(symbols,
                  fmt::format(R"(op matmul(t: {rows}, n: {outputs}, k*: {inputs})
in  X {input}[t, k]
{weight}{bias}out Y f32[t, n] = sum(X * {value}){add}
)",
                              fmt::arg("rows", text(shape.rows)), fmt::arg("outputs", shape.outputs),
                              fmt::arg("inputs", shape.inputs), fmt::arg("input", name(input)),
                              fmt::arg("weight", w.operands), fmt::arg("value", w.value),
                              fmt::arg("bias", bias ? fmt::format("in  bias {}[n]\n", name(*bias)) : ""),
                              fmt::arg("add", bias ? " + bias" : "")));
}

}  // namespace tessera::ops
