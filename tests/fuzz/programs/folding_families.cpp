// Reductions, products, norms and softmax.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fuzz/programs/contents.h"
#include "fuzz/programs/draft.h"
#include "ir/random_parts.h"

namespace tessera::fuzz {
namespace {

std::string without(std::vector<std::string> all, size_t axis) {
    all.erase(all.begin() + static_cast<int64_t>(axis));
    return fmt::format("{}", fmt::join(all, ", "));
}

/// Along one axis of two or three, with a predicate, a length of each row, or none.
bool reduction(Draft& draft) {
    const auto value = draft.any_of_rank(2, 3);
    if (!value) return false;
    const Shape shape = draft[*value].type.shape;
    const auto axis = static_cast<size_t>(draft.choices.below(std::ssize(shape)));
    const bool is_whole = is_integer(draft[*value].type.element);
    const std::string x = fmt::format("i{}", axis), other = axis == 0 ? "i1" : "i0";
    std::vector<ValueId> operands;
    std::string declarations, where;
    switch (draft.choices.below(6)) {
        case 4:
            where = fmt::format("where {} <= {}\n", x, other);
            break;
        case 3:
            where = fmt::format("where {} mod 3 != 1\n", x);
            break;
        case 5: {
            const Dim rows = shape[axis == 0 ? 1 : 0];
            declarations = fmt::format("index length i32[{}]\n", other);
            operands.push_back(draft.given(ElementType::kI32, {rows},
                                           draw_indices(draft.choices, {draft.extent_of(rows)}, -1,
                                                        draft.extent_of(shape[axis]), false)));
            where = fmt::format("where {} < length\n", x);
            break;
        }
        default:
            break;
    }
    const std::string monoid = draft.choices.pick<std::string>({"sum", "sum", "max", "min", "sum", "prod"});
    // Products of many numbers leave the range of F32 on the way.
    if (monoid == "prod" && draft.extent_of(shape[axis]) > 8) return false;
    const std::string inner = draft.choices.pick<std::string>(
        is_whole ? std::vector<std::string>{"X", "X", "abs(X)", "X * 2 - 1", "max(X, 0)"}
                 : std::vector<std::string>{"X", "X", "X * X", "abs(X)", "tanh(X)", "-X", "exp(min(X, 3))",
                                            "select(X > 0, X, 0)", "X * 0.5"});
    const std::string body =
        fmt::format(fmt::runtime(draft.choices.pick<std::string>(
                        {"{0}({1})", "{0}({1})", "{0}({1}) * 0.35", "tanh({0}({1}))",
                         "rsqrt(abs({0}({1})) / 4 + 1e-6)", "max({0}({1}), 0)", "1 - {0}({1})"})),
                    monoid == "prod" && !is_whole ? "prod" : monoid,
                    monoid == "prod" && !is_whole ? "tanh(" + inner + ")" : inner);
    declarations += fmt::format("in X {}[{}]\n", draft.type_name(*value), coordinates(shape.size()));
    operands.push_back(*value);
    const bool is_counted = is_whole && draft.choices.chance(15);
    return draft.add(
        fmt::format("op reduction({})\n{}out Y {}[{}] = {}\n{}{}", iterators(shape, {axis}), declarations,
                    is_counted ? "i32" : name(draft.float_type()),
                    without(coordinate_list(shape.size()), axis), body, where, is_counted ? "acc i32\n" : ""),
        operands);
}

/// Y[m, n] = sum over k, of any element types, either order of W, and a bias or a residual behind it.
bool product(Draft& draft) {
    const auto value = draft.any_of_rank(2, 2);
    if (!value) return false;
    const Shape shape = draft[*value].type.shape;
    const Dim columns = draft.extent();
    const bool is_transposed = draft.choices.chance(50);
    const ElementType type = draft.any_type();
    const ValueId weight =
        draft.operand(type, is_transposed ? Shape{shape[1], columns} : Shape{columns, shape[1]});
    std::vector<ValueId> operands = {*value, weight};
    std::string more, post;
    const int64_t behind = draft.choices.below(5);
    if (behind == 3) {
        more = "in B f32[i1]\n";
        operands.push_back(draft.operand(ElementType::kF32, {columns}));
        post = " + B";
    } else if (behind == 4) {
        more = "in R f32[i0, i1]\n";
        operands.push_back(draft.operand(ElementType::kF32, {shape[0], columns}));
        post = " * 0.5 + R";
    }
    const bool is_whole = is_integer(type) && is_integer(draft[*value].type.element);
    const bool is_counted = is_whole && behind < 3 && draft.choices.chance(15);
    return draft.add(
        fmt::format("op product({})\nin X {}[i0, i2]\nin W {}[{}]\n{}out Y {}[i0, i1] = sum(X * W){}\n{}",
                    iterators({shape[0], columns, shape[1]}, {2}), draft.type_name(*value), name(type),
                    is_transposed ? "i2, i1" : "i1, i2", more, is_counted ? "i32" : name(draft.float_type()),
                    post, is_counted ? "acc i32\n" : ""),
        operands);
}

/// A product of blocks of integers with scales, as quantised weights are.
bool quantised_product(Draft& draft) {
    const auto value = draft.any([](const Value& v) {
        return v.type.shape.size() == 2 && v.type.shape[1].is_constant() && !is_integer(v.type.element);
    });
    if (!value) return false;
    const Shape shape = draft[*value].type.shape;
    const int64_t depth = shape[1].factor;
    const int64_t block = depth % 8 == 0 ? 8 : depth % 3 == 0 ? 3 : 1;
    const Dim columns = draft.extent();
    const ElementType type = draft.choices.chance(50) ? ElementType::kI8 : ElementType::kU8;
    const ValueId numbers = draft.operand(type, {columns, depth});
    const ValueId scales = draft.operand(draft.float_type(), {columns, depth / block});
    return draft.add(
        fmt::format("op quantised({})\nin X {}[i0, i2]\nin q {}[i1, i2]\nin d {}[i1, i2 div {}]\n"
                    "out Y f32[i0, i1] = sum(X * ((q - 8) * d))\n",
                    iterators({shape[0], columns, shape[1]}, {2}), draft.type_name(*value), name(type),
                    draft.type_name(scales), block),
        {*value, numbers, scales});
}

bool batched_product(Draft& draft) {
    const auto value = draft.any_of_rank(3, 3);
    if (!value) return false;
    const Shape shape = draft[*value].type.shape;
    const Dim columns = draft.extent();
    const ValueId other = draft.operand(draft.float_type(), {shape[0], columns, shape[2]});
    return draft.add(fmt::format("op batched({})\nin X {}[i0, i1, i3]\nin W {}[i0, i2, i3]\n"
                                 "out Y f32[i0, i1, i2] = sum(X * W)\n",
                                 iterators({shape[0], shape[1], columns, shape[2]}, {3}),
                                 draft.type_name(*value), draft.type_name(other)),
                     {*value, other});
}

/// A convolution or pooling along the first axis: reads beyond both ends are the identity.
bool sliding(Draft& draft) {
    const auto value = draft.any_of_rank(2, 2);
    if (!value) return false;
    const Shape shape = draft[*value].type.shape;
    const int64_t width = draft.choices.between(1, 4), before = draft.choices.below(width);
    const std::string type = draft.type_name(*value);
    if (draft.choices.chance(40))
        return draft.add(
            fmt::format("op pooling({})\nin X {}[i0 + i2 - {}, i1] of {}\nout Y f32[i0, i1] = {}(X)\n",
                        iterators({shape[0], shape[1], width}, {2}), type, before, shape_text(shape),
                        draft.choices.chance(70) ? "max" : "min"),
            {*value});
    const ValueId weight = draft.operand(ElementType::kF32, {width, shape[1]});
    return draft.add(
        fmt::format("op sliding({})\nin X {}[i0 + i2 - {}, i1] of {}\nin W f32[i2, i1]\n"
                    "out Y f32[i0, i1] = sum(X * W)\n",
                    iterators({shape[0], shape[1], width}, {2}), type, before, shape_text(shape)),
        {*value, weight});
}

/// RMS or layer norm in three nodes.
bool norm(Draft& draft) {
    const auto value = draft.any([](const Value& v) {
        return v.type.shape.size() == 2 && v.type.shape[1].is_constant() && !is_integer(v.type.element);
    });
    if (!value) return false;
    const Shape shape = draft[*value].type.shape;
    const int64_t n = shape[1].factor;
    const std::string type = draft.type_name(*value);
    const bool is_centred = draft.choices.chance(40);
    const std::string reduced = iterators(shape, {1}), all = iterators(shape);
    ValueId rows = *value;
    if (is_centred) {
        if (!draft.add(
                fmt::format("op mean({})\nin X {}[i0, i1]\nout Y f32[i0] = sum(X) / {}\n", reduced, type, n),
                {*value}))
            return false;
        const ValueId mean = draft.last();
        if (!draft.add(
                fmt::format("op centre({})\nin X {}[i0, i1]\nin M f32[i0]\nout Y f32[i0, i1] = X - M\n", all,
                            type),
                {*value, mean}))
            return false;
        rows = draft.last();
    }
    if (!draft.add(fmt::format("op squares({})\nin X {}[i0, i1]\nout Y f32[i0] = rsqrt(sum(X * X) / {} + "
                               "1e-5)\n",
                               reduced, draft.type_name(rows), n),
                   {rows}))
        return false;
    const ValueId scale = draft.last();
    const ValueId gain = draft.operand(draft.float_type(), {shape[1]});
    return draft.add(fmt::format("op norm({})\nin X {}[i0, i1]\nin R f32[i0]\nin G {}[i1]\n"
                                 "out Y {}[i0, i1] = X * R * G\n",
                                 all, draft.type_name(rows), draft.type_name(gain), name(draft.float_type())),
                     {rows, scale, gain});
}

/// Maximum, sum and quotient by themselves.
bool softmax(Draft& draft) {
    const auto value = draft.any_of_rank(2, 2);
    if (!value) return false;
    const Shape shape = draft[*value].type.shape;
    const std::string type = draft.type_name(*value), reduced = iterators(shape, {1});
    const std::string where = draft.choices.chance(40) ? "where i1 <= i0\n" : "";
    if (!draft.add(
            fmt::format("op maximum({})\nin X {}[i0, i1]\nout Y f32[i0] = max(X)\n{}", reduced, type, where),
            {*value}))
        return false;
    const ValueId maximum = draft.last();
    if (!draft.add(
            fmt::format("op total({})\nin X {}[i0, i1]\nin M f32[i0]\nout Y f32[i0] = sum(exp(X - M))\n{}",
                        reduced, type, where),
            {*value, maximum}))
        return false;
    const ValueId total = draft.last();
    return draft.add(fmt::format("op softmax({})\nin X {}[i0, i1]\nin M f32[i0]\nin L f32[i0]\n"
                                 "out Y f32[i0, i1] = exp(X - M) / L\n{}",
                                 iterators(shape), type, where),
                     {*value, maximum, total});
}

/// A streaming softmax over scores, and the division behind it.
bool attention(Draft& draft) {
    const auto scores = draft.any_of_rank(2, 2);
    if (!scores) return false;
    const Shape shape = draft[*scores].type.shape;
    const Dim width = draft.extent();
    const ValueId values = draft.operand(draft.float_type(), {shape[1], width});
    std::vector<ValueId> operands = {*scores, values};
    std::string index, where;
    const int64_t masking = draft.choices.below(4);
    if (masking == 2) where = "where i2 <= i0\n";
    if (masking == 3) {
        index = "index length i32[i0]\n";
        operands.insert(operands.begin(), draft.given(ElementType::kI32, {shape[0]},
                                                      draw_indices(draft.choices, {draft.extent_of(shape[0])},
                                                                   0, draft.extent_of(shape[1]), false)));
        where = "where i2 < length\n";
    }
    if (!draft.add(fmt::format("op attend({})\n{}in P {}[i0, i2]\nin V {}[i2, i1]\n"
                               "out M f32[i0], L f32[i0], A f32[i0, i1] = softmax_sum(P{}, V)\n{}",
                               iterators({shape[0], width, shape[1]}, {2}), index, draft.type_name(*scores),
                               draft.type_name(values), draft.choices.chance(40) ? " * 0.125" : "", where),
                   operands))
        return false;
    const ValueId weighted = draft.last(), sum{weighted.index - 1};
    return draft.add(fmt::format("op divide({})\nin A f32[i0, i1]\nin L f32[i0]\nout Y f32[i0, i1] = A / L\n",
                                 iterators({shape[0], width})),
                     {weighted, sum});
}

}  // namespace

const std::vector<NamedFamily>& folding_families() {
    static const std::vector<NamedFamily> kAll = {
        {"reduction", reduction, 10},    {"product", product, 6},    {"quantised", quantised_product, 2},
        {"batched", batched_product, 2}, {"sliding", sliding, 3},    {"norm", norm, 3},
        {"softmax", softmax, 3},         {"attention", attention, 3}};
    return kAll;
}

}  // namespace tessera::fuzz
