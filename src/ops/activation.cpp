#include "ops/activation.h"

#include <fmt/format.h>

#include "ops/reshape.h"
#include "support/error.h"

namespace tessera::ops {

ElementType computed_type(const Activation& activation) {
    return activation.block == 1 ? activation.element : ElementType::kF32;
}

DefinitionPtr block_scales(Symbols symbols, const Dim& rows, int64_t width, int64_t block) {
    return define(symbols, fmt::format(R"(op block_scales(t: {rows}, b: {blocks}, j*: {block})
in  X f32[t, b, j]
out scale f32[t, b] = max(abs(X)) / 127
)",
                                       fmt::arg("rows", text(rows)), fmt::arg("blocks", width / block),
                                       fmt::arg("block", block)));
}

DefinitionPtr round_to_blocks(Symbols symbols, const Dim& rows, int64_t width, int64_t block) {
    // Below the scales of all numbers that matter: it only keeps 0 / 0 away.
    return define(symbols, fmt::format(R"(op round_to_blocks(t: {rows}, k: {width})
in  X f32[t, k]
in  scale f32[t, k div {block}]
out Q i8[t, k] = round(X / max(scale, {least}))
)",
                                       fmt::arg("rows", text(rows)), fmt::arg("width", width),
                                       fmt::arg("block", block), fmt::arg("least", 1e-30)));
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
        block.add(name + "_scales", block_scales(symbols, shape[0], width, activation.block), {blocks});
    const ValueId numbers = block.add(
        name + "_rounded", round_to_blocks(symbols, shape[0], width, activation.block), {x, scales});
    return {numbers, scales};
}

}  // namespace tessera::ops
