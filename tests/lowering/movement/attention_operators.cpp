// Families of operators that fold by a streaming softmax.
#include "lowering/movement/graph_generator.h"

namespace tessera::testing {

void Generator::attend() {
    const Matrix q = any();
    const int64_t positions = kMostTokens + pick(0, 9), width = extent();
    const ElementType key = pick(0, 1) == 1 ? any_type() : ElementType::kF32,
                      type = pick(0, 1) == 1 ? any_type() : ElementType::kF32;
    const double scale = is_integer(key) ? 0.3 / static_cast<double>(range(key).high) : 0.3;
    const ValueId k = constant({positions, q.width}, key), v = values(positions, width, type);
    const ValueId p =
        in_block(1).add(fresh("scores"),
                        op("scores(t: T, s: {0}, e*: {1})\nindex position i32[t]\nin Q f32[t, e], K {2}[s, "
                           "e]\nout P f32[t, s] = sum(Q * K) * {3:.6f}\nwhere s <= position[t]\n",
                           positions, q.width, name(key), scale),
                        {position_, q.value, k});
    const std::vector<ValueId> mla = in_block(1).add_all(
        fresh("attend"),
        op("attend(t: T, d: {0}, s*: {1})\nindex position i32[t]\nin P f32[t, s], V {2}[s, d]\nout M "
           "f32[t], L f32[t], A f32[t, d] = softmax_sum(P, V)\nwhere s <= position[t]\n",
           width, positions, name(type)),
        {position_, p, v});
    keep_normalised(mla, width, is_integer(type) ? 1 / static_cast<double>(range(type).high) : 1.0);
}

void Generator::keep_normalised(const std::vector<ValueId>& sums, int64_t width, double scale) {
    keep(add("normalise",
             op("normalise(t: T, d: {})\nin A f32[t, d], L f32[t]\nout Y f32[t, d] = A / L * {:.6f}\n", width,
                scale),
             {sums[2], sums[1]}, width));
}

/// Weights that are rounded to bf16: powers of two, so that they are exact below any maximum.
void Generator::rounded_attend() {
    const Matrix q = any();
    const int64_t positions = kMostTokens + pick(0, 9), width = extent();
    const ElementType type = any_type();
    const double scale = is_integer(type) ? 2 / static_cast<double>(range(type).high) : 2.0;
    const ValueId p = in_block(1).add(
        fresh("scores"),
        op("scores(t: T, s: {0}, e*: {1})\nin Q f32[t, e], K f32[s, e]\nout P f32[t, s] = sum(Q * K)\n",
           positions, q.width),
        {q.value, constant({positions, q.width})});
    const ValueId doubled = in_block(1).add(
        fresh("doubled"), op("doubled(t: T, s: {0})\nin P f32[t, s]\nout Y f32[t, s] = P * 2\n", positions),
        {p});
    const ValueId bias = constant({kMostTokens, positions}, type),
                  v = values(positions, width, ElementType::kBF16);
    const std::vector<ValueId> sums = in_block(1).add_all(
        fresh("attend"),
        op("attend(t: T, d: {0}, s*: {1})\nindex position i32[t]\nin P f32[t, s], B {2}[t, s] of [{4}, {1}], "
           "V "
           "bf16[s, d]\nout M f32[t], L f32[t], A f32[t, d] = softmax_sum(round(P + B * {3:.6f}) * "
           "0.6931471805599453, V)\nwhere s <= position[t]\nweights bf16\n",
           width, positions, name(type), scale, kMostTokens),
        {position_, doubled, bias, v});
    keep_normalised(sums, width, 1.0);
}

/// [positions, width]: a constant, or a view of one.
ValueId Generator::values(int64_t positions, int64_t width, ElementType type) {
    if (pick(0, 1) == 0) return constant({positions, width}, type);
    return in_block(1).add(
        fresh("values"),
        op("values(s: {0}, d: {1})\nin W {3}[s + 1, d] of [{2}, {1}]\nout V {3}[s, d] = W\n", positions,
           width, positions + 1, name(type)),
        {constant({positions + 1, width}, type)});
}

/// Attention of several heads over a state, as transformers have it: four iterators, some rows without a
/// position.
void Generator::grouped() {
    const Matrix x = any();
    const int64_t heads = x.width % 2 == 0 ? 2 : 1, e = x.width / heads, positions = kSlots;
    const ValueId before = add_value(fresh("cache"), ValueKind::kState, ElementType::kF32, {positions, e});
    const ValueId cache =
        in_block(1).update(fresh("update"),
                           op("store_rows(t: T, e: {0})\nindex slot i32[t]\nin X f32[t, e] of [T, "
                              "{1}]\nupdate C f32[slot[t], e] of [{2}, {0}] = X\n",
                              e, x.width, positions),
                           {slot_, x.value}, before);
    const ValueId split = in_block(1).add(
        fresh("split"),
        op("split(t: T, h: {0}, e: {1})\nin X f32[t, h * {1} + e]\nout Y f32[t, h, e] = X\n", heads, e),
        {x.value});
    const ValueId p = in_block(1).add(
        fresh("scores"),
        op("scores(h: {0}, t: T, s: {1}, e*: {2})\nindex position i32[t]\nin Q f32[t, h, e], K f32[s, "
           "e]\nout P f32[h, t, s] = sum(Q * K) * 0.2\nwhere s < position[t]\n",
           heads, positions, e),
        {position_, split, cache});
    const std::vector<ValueId> mla =
        in_block(1).add_all(fresh("attend"),
                            op("attend(h: {0}, t: T, e: {2}, s*: {1})\nindex position i32[t]\nin P "
                               "f32[h, t, s], V f32[s, e]\nout M f32[h, t], L f32[h, t], A f32[h, t, e] "
                               "= softmax_sum(P, V)\nwhere s < position[t]\n",
                               heads, positions, e),
                            {position_, p, cache});
    const ValueId y = in_block(1).add(fresh("normalise"),
                                      op("normalise(t: T, h: {0}, e: {1})\nin A f32[h, t, e], L f32[h, "
                                         "t]\nout Y f32[t, h, e] = A / (L + 0.1)\n",
                                         heads, e),
                                      {mla[2], mla[1]});
    keep(add("merge",
             op("merge(t: T, n: {0})\nin X f32[t, n div {1}, n mod {1}] of [T, {2}, {1}]\nout Y f32[t, "
                "n] = X\n",
                heads * e, e, heads),
             {y}, heads * e));
}

}  // namespace tessera::testing
