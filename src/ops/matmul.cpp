#include "ops/matmul.h"

#include <fmt/format.h>

namespace tessera::ops {

DefinitionPtr matmul(Symbols symbols, const MatmulShape& shape, ElementType weight,
                     std::optional<ElementType> bias) {
    return define(symbols,
                  fmt::format(R"(op matmul(t: {rows}, n: {outputs}, k*: {inputs})
in  X f32[t, k]
in  W {weight}[n, k]
{bias}out Y f32[t, n] = sum(X * W){add}
)",
                              fmt::arg("rows", text(shape.rows)), fmt::arg("outputs", shape.outputs),
                              fmt::arg("inputs", shape.inputs), fmt::arg("weight", name(weight)),
                              fmt::arg("bias", bias ? fmt::format("in  bias {}[n]\n", name(*bias)) : ""),
                              fmt::arg("add", bias ? " + bias" : "")));
}

}  // namespace tessera::ops
