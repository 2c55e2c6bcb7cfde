// Families of operators over element types that are narrower than f32. Only constants are rounded here: the
// interpreter and emitted code differ in the last bits of a computed value, which could then round apart.
#include <array>

#include "lowering/movement/graph_generator.h"

namespace tessera::testing {

ElementType Generator::any_type() {
    static constexpr std::array kTypes = {ElementType::kF16, ElementType::kBF16, ElementType::kI8,
                                          ElementType::kU8,  ElementType::kU6,   ElementType::kU5,
                                          ElementType::kI4,  ElementType::kU4};
    return kTypes[static_cast<size_t>(pick(0, std::ssize(kTypes) - 1))];
}

void Generator::typed_product() {
    const Matrix x = any();
    const int64_t width = extent();
    const ElementType type = any_type();
    const double scale = is_integer(type) ? 1 / static_cast<double>(range(type).high) : 1;
    const bool transposed = pick(0, 2) == 0;
    keep(add(
        "typed_product",
        op("product(t: T, n: {}, k*: {})\nin X f32[t, k], W {}[{}]\nout Y f32[t, n] = sum(X * W) * {:.6f}\n",
           width, x.width, name(type), transposed ? "k, n" : "n, k", scale),
        {x.value,
         constant(transposed ? std::vector<Dim>{x.width, width} : std::vector<Dim>{width, x.width}, type)},
        width));
}

/// Weights as quants with scales of blocks along k: of one level, with a minimum, and of two levels.
void Generator::quantised_product() {
    const Matrix x = any();
    const int64_t width = extent(), block = pick(0, 1) == 1 ? 32 : 4, blocks = (x.width + block - 1) / block;
    const int64_t form = pick(0, 2);
    const std::string head = fmt::format("product(t: T, n: {}, k*: {})\nin X f32[t, k], ", width, x.width);
    std::vector<ValueId> operands = {x.value};
    std::string text;
    const auto operand = [&](ElementType type, int64_t columns) {
        operands.push_back(constant({width, columns}, type));
    };
    if (form == 0) {
        operand(ElementType::kU4, x.width);
        operand(ElementType::kF16, blocks);
        text = fmt::format("Q u4[n, k], D f16[n, k div {}]\nout Y f32[t, n] = sum(X * ((Q - 8) * D)) * 0.1\n",
                           block);
    } else if (form == 1) {
        operand(ElementType::kI8, x.width);
        operand(ElementType::kBF16, blocks);
        operand(ElementType::kF16, blocks);
        text = fmt::format(
            "Q i8[n, k], D bf16[n, k div {0}], M f16[n, k div {0}]\n"
            "out Y f32[t, n] = sum(X * (Q * D + M)) * 0.01\n",
            block);
    } else {
        operand(ElementType::kU6, x.width);
        operand(ElementType::kU6, blocks);
        operand(ElementType::kF16, 1);
        text = fmt::format(
            "Q u6[n, k], S u6[n, k div {}], D f16[n, 0] of [{}, 1]\n"
            "out Y f32[t, n] = sum(X * (Q * (S * D))) * 0.0005\n",
            block, width);
    }
    keep(add("quantised_product", op("{}{}", head, text), std::move(operands), width));
}

/// Numbers of int8, or of two such, by rows; of constants, so that nothing rounds apart.
std::vector<ValueId> Generator::block_numbers(int64_t depth, bool has_terms) {
    std::vector<ValueId> terms;
    for (int i = 0; i < (has_terms ? 2 : 1); ++i) {
        terms.push_back(in_block(1).add(
            fresh("numbers"),
            op("numbers(t: T, k: {})\nin W i8[k]\nout Y i8[t, k] = max(W - t, -127)\n", depth),
            {constant({depth}, ElementType::kI8)}));
    }
    return terms;
}

/// Scales of their blocks: made at once, in two steps of which the second may take over the place of the
/// first, or in another shape.
ValueId Generator::block_scales(int64_t blocks) {
    const int64_t form = pick(0, 2);
    if (form == 2) {
        const ValueId scales = in_block(1).add(
            fresh("scales"),
            op("scales(t: T, b: {}, u: 1)\nin D f32[b]\nout S f32[t, b, u] = D * 2\n", blocks),
            {constant({blocks})});
        return in_block(1).add(
            fresh("flat"),
            op("flat(t: T, b: {0})\nin S f32[t, b, 0] of [T, {0}, 1]\nout Y f32[t, b] = S\n", blocks),
            {scales});
    }
    if (form == 1) {
        return in_block(1).add(fresh("scales"),
                               op("scales(t: T, b: {})\nin D f32[b]\nout S f32[t, b] = D * 2\n", blocks),
                               {constant({blocks})});
    }
    const ValueId scales = in_block(1).add(
        fresh("scales"),
        op("scales(t: T, b: {}, j*: 3)\nin D f32[b, j], E f32[j]\nout S f32[t, b] = sum(D * E)\n", blocks),
        {constant({blocks, 3}), constant({3})});
    return in_block(1).add(fresh("halves"),
                           op("halves(t: T, b: {})\nin D f32[t, b]\nout S f32[t, b] = D * 0.5\n", blocks),
                           {scales});
}

/// Numbers in blocks with quantised weights: integers inside the blocks.
void Generator::block_product() {
    const int64_t width = extent(), a_block = 32 * pick(1, 2), depth = a_block * pick(1, 3),
                  form = pick(0, 3);
    const bool has_terms = pick(0, 1) == 1;
    std::vector<ValueId> operands = block_numbers(depth, has_terms);
    operands.push_back(block_scales(depth / a_block));
    const auto operand = [&](ElementType type, int64_t block) {
        operands.push_back(constant({width, depth / block}, type));
    };
    const std::string x = has_terms ? "(X * 64 + L) * 0.01" : "X", head = has_terms ? "L i8[t, k], " : "";
    std::string text;
    if (form == 0) {
        const ElementType type = std::array{ElementType::kU4, ElementType::kI4, ElementType::kU5,
                                            ElementType::kU8}[static_cast<size_t>(pick(0, 3))];
        operand(type, 1);
        operand(ElementType::kF16, 32);
        text = fmt::format(
            "Q {}[n, k], D f16[n, k div 32]\nout Y f32[t, n] = sum({} * S * ((Q - 8) * D)) * 0.0001\n",
            name(type), x);
    } else if (form == 1) {
        operand(ElementType::kI8, 1);
        operand(ElementType::kBF16, 32);
        operand(ElementType::kF16, 32);
        text = fmt::format(
            "Q i8[n, k], D bf16[n, k div 32], M f16[n, k div 32]\n"
            "out Y f32[t, n] = sum({} * S * (Q * D - M)) * 0.0001\n",
            x);
    } else if (form == 2) {
        operand(ElementType::kU6, 1);
        operand(ElementType::kI8, 16);
        operand(ElementType::kF16, depth);
        text = fmt::format(
            "Q u6[n, k], s i8[n, k div 16], D f16[n, 0] of [{}, 1]\n"
            "out Y f32[t, n] = sum({} * S * ((Q - 32) * s * D)) * 0.00001\n",
            width, x);
    } else {  // two of them side by side
        operands.push_back(constant({2, width, depth}, ElementType::kU4));
        operands.push_back(constant({2, width, depth / 32}, ElementType::kF16));
        const ValueId both =
            in_block(1).add(fresh("block_product"),
                            op("product(t: T, g: 2, n: {}, k*: {})\nin X i8[t, k], {}S f32[t, k div {}], Q "
                               "u4[g, n, k], D f16[g, n, k div "
                               "32]\nout Y f32[t, g, n] = sum({} * S * ((Q - 8) * D)) * 0.0001\n",
                               width, depth, head, a_block, x),
                            std::move(operands));
        keep(add("join",
                 op("join(t: T, c: {0})\nin X f32[t, c div {1}, c mod {1}] of [T, 2, {1}]\nout Y f32[t, c] = "
                    "X + 1\n",
                    2 * width, width),
                 {both}, 2 * width));
        return;
    }
    const Matrix product = add("block_product",
                               op("product(t: T, n: {}, k*: {})\nin X i8[t, k], {}S f32[t, k div {}], {}",
                                  width, depth, head, a_block, text),
                               std::move(operands), width);
    // A reader of its own, into whose nest the product may go.
    keep(add("map", op("map(t: T, n: {})\nin X f32[t, n]\nout Y f32[t, n] = X + 0.1\n", width),
             {product.value}, width));
}

/// Rows of bf16, as products by tiles and dot products of pairs want both factors; of constants, so that
/// nothing rounds apart. Made at once, in two steps of which the second may take over the place of the first,
/// or in another shape.
ValueId Generator::bf16_rows(int64_t depth) {
    const auto add_rows = [&](const char* kind, const std::string& text, ValueId operand) {
        const ValueId made = in_block(1).add(fresh(kind), op("{}", text), {operand});
        graph_.values[static_cast<size_t>(made.index)].type.rounding = Rounding::kWeights;
        return made;
    };
    const int64_t form = pick(0, 2);
    if (form == 2) {
        const ValueId made = add_rows(
            "rows",
            fmt::format(
                "rows(t: T, k: {}, u: 1)\nin W bf16[k]\nout Y bf16[t, k, u] = max(W, t * 0.0625 - 1)\n",
                depth),
            constant({depth}, ElementType::kBF16));
        return add_rows(
            "flat",
            fmt::format("flat(t: T, k: {0})\nin S bf16[t, k, 0] of [T, {0}, 1]\nout Y bf16[t, k] = S\n",
                        depth),
            made);
    }
    const ValueId made = add_rows(
        "rows",
        fmt::format("rows(t: T, k: {})\nin W bf16[k]\nout Y bf16[t, k] = max(W, t * 0.0625 - 1)\n", depth),
        constant({depth}, ElementType::kBF16));
    if (form == 0) return made;
    return add_rows("halves",
                    fmt::format("halves(t: T, k: {})\nin S bf16[t, k]\nout Y bf16[t, k] = S * 0.5\n", depth),
                    made);
}

/// A product of bf16 with an addend of any type, an intermediate value.
void Generator::bf16_product() {
    const Matrix x = any();
    const int64_t depth = extent();
    const ValueId rows = bf16_rows(depth);
    if (pick(0, 2) == 0) {  // two of them side by side
        const ValueId both =
            in_block(1).add(fresh("bf16_product"),
                            op("product(t: T, g: 2, n: {0}, k*: {1})\nin X bf16[t, k], W bf16[g, n, k]\n"
                               "out Y f32[t, g, n] = sum(X * W) * 0.2\n",
                               x.width, depth),
                            {rows, constant({2, x.width, depth}, ElementType::kBF16)});
        keep(add("join",
                 op("join(t: T, c: {0})\nin X f32[t, c div {1}, c mod {1}] of [T, 2, {1}]\nout Y f32[t, c] = "
                    "X + 1\n",
                    2 * x.width, x.width),
                 {both}, 2 * x.width));
        return;
    }
    const ElementType type = any_type();
    const double scale = is_integer(type) ? 1 / static_cast<double>(range(type).high) : 1;
    const Matrix product = add(
        "bf16_product",
        op("product(t: T, n: {0}, k*: {1})\nin X bf16[t, k], W bf16[n, k], b {2}[n], R f32[t, n]\n"
           "out Y f32[t, n] = sum(X * W) * 0.2 + b * {3:.6f} + R\n",
           x.width, depth, name(type), scale),
        {rows, constant({x.width, depth}, ElementType::kBF16), constant({x.width}, type), x.value}, x.width);
    // A reader of its own, into whose nest the product may go.
    keep(add("map", op("map(t: T, n: {})\nin X f32[t, n]\nout Y f32[t, n] = X * 0.5\n", x.width),
             {product.value}, x.width));
}

/// A product of bf16 that is added to a state.
void Generator::bf16_accumulate() {
    const Matrix x = any();
    const int64_t depth = extent();
    constexpr int64_t kRows = 5;
    const ValueId before = add_value(fresh("total"), ValueKind::kState, ElementType::kF32, {kRows, x.width});
    const ValueId rows = in_block(1).add(
        fresh("rows"), op("rows(m: {0}, k: {1})\nin W bf16[m, k]\nout Y bf16[m, k] = W * 2\n", kRows, depth),
        {constant({kRows, depth}, ElementType::kBF16)});
    graph_.values[static_cast<size_t>(rows.index)].type.rounding = Rounding::kWeights;
    const ValueId after = in_block(1).update(fresh("bf16_accumulate"),
                                             op("accumulate(m: {0}, n: {1}, k*: {2})\nin X bf16[m, k], W "
                                                "bf16[n, k]\nupdate C f32[m, n] = sum(X * W)\n",
                                                kRows, x.width, depth),
                                             {rows, constant({x.width, depth}, ElementType::kBF16)}, before);
    keep(add("map",
             op("map(t: T, n: {0})\nin X f32[t, n], C f32[t mod {1}, n] of [{1}, {0}]\nout Y f32[t, n] = X + "
                "C * 0.1\n",
                x.width, kRows),
             {x.value, after}, x.width));
}

/// Integers and floats of 64 bits: maps, folds, predicates, every type of a whole byte.
void Generator::wide() {
    const Matrix x = any();
    static constexpr std::array kIntegers = {ElementType::kI64, ElementType::kI32, ElementType::kI16,
                                             ElementType::kU64, ElementType::kU32, ElementType::kU16,
                                             ElementType::kU8,  ElementType::kBool};
    const ElementType type = kIntegers[static_cast<size_t>(pick(0, std::ssize(kIntegers) - 1))];
    const ValueId numbers = in_block(1).add(fresh("wide"),
                                            op("wide(t: T, k: {})\nin W i8[k]\nout Y {}[t, k] = bitxor(W * "
                                               "1003, t) - shift_left(W, 3) + (W div 3) mod 5\n"
                                               "acc i64\n",
                                               x.width, name(type)),
                                            {constant({x.width}, ElementType::kI8)});
    const ValueId sums = in_block(1).add(
        fresh("sums"),
        op("sums(t: T, k: {0}, j*: {0})\nin N {1}[t, j]\nout Y i64[t, k] = max(select(N < 0, -N, N) mod 97)\n"
           "where j <= k\nacc i64\n",
           x.width, name(type)),
        {numbers});
    const ValueId reals = in_block(1).add(
        fresh("reals"),
        op("reals(t: T, k: {})\nin S i64[t, k]\nout Y f64[t, k] = sin(S) + pow(S + 1, 0.5) * 0.1\nacc f64\n",
           x.width),
        {sums});
    keep(add("joined",
             op("joined(t: T, k: {})\nin X f32[t, k], R f64[t, k]\nout Y f32[t, k] = X + f32(R) * "
                "atan(R)\nacc f64\n",
                x.width),
             {x.value, reals}, x.width));
}

/// Rows of a quantised table by number, as of a tied embedding.
void Generator::quantised_rows() {
    const Matrix x = any();
    const int64_t blocks = (x.width + 31) / 32;
    keep(add(
        "quantised_rows",
        op("rows(t: T, n: {0})\nindex slot i32[t]\nin Q u4[slot[t], n] of [{1}, {0}], D f16[slot[t], n div "
           "32] of [{1}, {2}], X f32[t, n]\nout Y f32[t, n] = (Q - 8) * D * 0.1 + X\n",
           x.width, kSlots, blocks),
        {slot_, constant({kSlots, x.width}, ElementType::kU4), constant({kSlots, blocks}, ElementType::kF16),
         x.value},
        x.width));
}

void Generator::typed_map() {
    const Matrix x = any();
    const ElementType type = any_type();
    keep(add("typed_map",
             op("map(t: T, n: {0})\nin X f32[t, n], w {1}[n]\nout Y f32[t, n] = X + tanh(w * 0.1) * 0.1\n",
                x.width, name(type)),
             {x.value, constant({x.width}, type)}, x.width));
}

/// Intermediate values of 16 bits, as factors of products of both sides, and folded.
void Generator::rounded() {
    const Matrix x = any();
    const int64_t width = extent();
    const ElementType type = pick(0, 1) == 1 ? ElementType::kF16 : ElementType::kBF16;
    const auto narrow = [&](std::vector<Dim> shape, const char* iterators, const char* map) {
        const ValueId made = in_block(1).add(
            fresh("narrow"),
            op("narrow({0})\nin W f32[{1}]\nout Y {2}[{1}] = W * 2\n", iterators, map, name(type)),
            {constant(std::move(shape))});
        graph_.values[static_cast<size_t>(made.index)].type.rounding = Rounding::kWeights;
        return made;
    };
    const ValueId weights =
        narrow({width, x.width}, fmt::format("n: {}, k: {}", width, x.width).c_str(), "n, k");
    const ValueId row = narrow({x.width}, fmt::format("k: {}", x.width).c_str(), "k");
    const ValueId once = in_block(1).add(
        fresh("product"),
        op("product(n: {0}, k*: {1})\nin A {2}[k], W {2}[n, k]\nout Y f32[n] = sum(A * W) * 0.1\n", width,
           x.width, name(type)),
        {row, weights});
    // Rounded the same in any order of folding.
    const ValueId largest = in_block(1).add(
        fresh("largest"),
        op("largest(n: {0}, k*: {1})\nin W f32[n, k]\nout Y {2}[n] = max(W)\n", width, x.width, name(type)),
        {constant({width, x.width})});
    graph_.values[static_cast<size_t>(largest.index)].type.rounding = Rounding::kWeights;
    keep(add("product",
             op("product(t: T, n: {0}, k*: {1})\nin X f32[t, k], W {2}[n, k], b f32[n], l {2}[n]\n"
                "out Y f32[t, n] = sum(X * W) * 0.2 + b + l\n",
                width, x.width, name(type)),
             {x.value, weights, once, largest}, width));
}

/// A cache of 16 bits, whose rows are updated and attended to.
void Generator::rounded_state() {
    const Matrix x = any();
    const ElementType type = pick(0, 1) == 1 ? ElementType::kF16 : ElementType::kBF16;
    const ValueId before = add_value(fresh("state"), ValueKind::kState, type, {kSlots, x.width});
    const ValueId cache = in_block(1).update(fresh("update"),
                                             op("store_rows(t: T, n: {0})\nindex slot i32[t]\nin w f32[n]\n"
                                                "update C {2}[slot[t], n] of [{1}, {0}] = w\n",
                                                x.width, kSlots, name(type)),
                                             {slot_, constant({x.width})}, before);
    const ValueId p = in_block(1).add(
        fresh("scores"),
        op("scores(t: T, s: {0}, e*: {1})\nindex position i32[t]\nin Q f32[t, e], K {2}[s, e]\n"
           "out P f32[t, s] = sum(Q * K) * 0.3\nwhere s <= position[t]\n",
           kSlots, x.width, name(type)),
        {position_, x.value, cache});
    const std::vector<ValueId> mla =
        in_block(1).add_all(fresh("attend"),
                            op("attend(t: T, d: {0}, s*: {1})\nindex position i32[t]\nin P f32[t, s], V "
                               "{2}[s, d]\nout M f32[t], L "
                               "f32[t], A f32[t, d] = softmax_sum(P, V)\nwhere s <= position[t]\n",
                               x.width, kSlots, name(type)),
                            {position_, p, cache});
    keep(add("normalise",
             op("normalise(t: T, d: {})\nin A f32[t, d], L f32[t]\nout Y f32[t, d] = A / L\n", x.width),
             {mla[2], mla[1]}, x.width));
}

}  // namespace tessera::testing
