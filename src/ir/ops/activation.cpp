#include "ir/ops/activation.h"

#include <numeric>

#include <fmt/core.h>

#include "ir/ops/reshape.h"
#include "support/error.h"

namespace tessera::ops {

ElementType computed_type(const Activation& activation) {
    return activation.block == 1 ? activation.element : ElementType::kF32;
}

Activation fitted(Activation activation, int64_t width) {
    activation.block = std::gcd(activation.block, width);
    return activation;
}

namespace {

int64_t largest(const Activation& activation) {
    return 127 * activation.radix;
}

/// X in units of its scale. The smallest scale is below those of all numbers that matter: it only keeps 0 / 0
/// away.
constexpr const char* kQuotient = "X / max(scale, 1e-30)";

}  // namespace

DefinitionPtr block_scales(Symbols symbols, const Dim& rows, int64_t width, const Activation& activation) {
    return define(symbols,
                  fmt::format(R"(op block_scales(t: {rows}, b: {blocks}, j*: {block})
in  X f32[t, b, j]
out scale f32[t, b] = max(abs(X)) / {largest}
)",
                              fmt::arg("rows", text(rows)), fmt::arg("blocks", width / activation.block),
                              fmt::arg("block", activation.block), fmt::arg("largest", largest(activation))));
}

DefinitionPtr round_to_blocks(Symbols symbols, const Dim& rows, int64_t width, const Activation& activation) {
    return define(
        symbols,
        fmt::format(R"(op round_to_blocks(t: {rows}, k: {width})
in  X f32[t, k]
in  scale f32[t, k div {block}]
out Q i8[t, k] = round({quotient}{radix})
)",
                    fmt::arg("rows", text(rows)), fmt::arg("width", width),
                    fmt::arg("block", activation.block), fmt::arg("quotient", kQuotient),
                    fmt::arg("radix", activation.radix == 1 ? "" : fmt::format(" / {}", activation.radix))));
}

DefinitionPtr round_rest(Symbols symbols, const Dim& rows, int64_t width, const Activation& activation) {
    return define(symbols, fmt::format(R"(op round_rest(t: {rows}, k: {width})
in  X f32[t, k]
in  scale f32[t, k div {block}]
in  high i8[t, k]
out low i8[t, k] = round({quotient} - high * {radix})
)",
                                       fmt::arg("rows", text(rows)), fmt::arg("width", width),
                                       fmt::arg("block", activation.block), fmt::arg("quotient", kQuotient),
                                       fmt::arg("radix", activation.radix)));
}

std::vector<ValueId> factor_operands(BlockBuilder& block, const std::string& name, ValueId x,
                                     const Activation& activation) {
    if (activation.block == 1) return {x};
    const std::vector<Dim> shape = block.graph()[x].type.shape;
    const int64_t width = shape.back().factor;
    if (shape.size() != 2 || !shape.back().is_constant() || width % activation.block != 0)
        throw Error("", name, fmt::format("cannot be rounded in blocks of {}", activation.block),
                    "choose the policy exact");
    const Symbols& symbols = block.graph().symbols;
    const ValueId blocks = block.add(
        name + "_blocks", split_heads(symbols, shape[0], width / activation.block, activation.block), {x});
    const ValueId scales =
        block.add(name + "_scales", block_scales(symbols, shape[0], width, activation), {blocks});
    const ValueId numbers =
        block.add(name + "_rounded", round_to_blocks(symbols, shape[0], width, activation), {x, scales});
    if (activation.radix == 1) return {numbers, scales};
    const ValueId rest =
        block.add(name + "_rest", round_rest(symbols, shape[0], width, activation), {x, scales, numbers});
    return {numbers, rest, scales};
}

}  // namespace tessera::ops
