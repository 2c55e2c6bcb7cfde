// The families of operators of random graphs.
#include "lowering/movement/graph_generator.h"

namespace tessera::testing {

const std::vector<Generator::Family>& Generator::families() {
    static const std::vector<Family> all = {&Generator::unary,
                                            &Generator::binary,
                                            &Generator::norm,
                                            &Generator::product,
                                            &Generator::fold,
                                            &Generator::attend,
                                            &Generator::rounded_attend,
                                            &Generator::window,
                                            &Generator::views,
                                            &Generator::gather,
                                            &Generator::masked,
                                            &Generator::state,
                                            &Generator::rotate,
                                            &Generator::heads,
                                            &Generator::product2d,
                                            &Generator::scatter,
                                            &Generator::padded,
                                            &Generator::repeated,
                                            &Generator::add_rows,
                                            &Generator::few,
                                            &Generator::columns,
                                            &Generator::grouped,
                                            &Generator::accumulate,
                                            &Generator::typed_product,
                                            &Generator::quantised_product,
                                            &Generator::block_product,
                                            &Generator::block_product,
                                            &Generator::quantised_rows,
                                            &Generator::typed_map,
                                            &Generator::wide,
                                            &Generator::rounded,
                                            &Generator::rounded_state,
                                            &Generator::bf16_product,
                                            &Generator::bf16_product,
                                            &Generator::bf16_accumulate};
    return all;
}

Generator::Matrix Generator::matmul(Matrix x, int64_t width) {
    const int form = static_cast<int>(pick(0, 3));
    if (form == 0) {  // weights as [k, n]
        return add("matmul",
                   op("mm(t: T, n: {}, k*: {})\nin X f32[t, k], W f32[k, n]\nout Y f32[t, n] = sum(X * "
                      "W) * 0.3\n",
                      width, x.width),
                   {x.value, constant({x.width, width})}, width);
    }
    if (form == 1) {
        return add("matmul",
                   op("mm(t: T, n: {}, k*: {})\nin X f32[t, k], W f32[n, k], b f32[n]\nout Y f32[t, n] = "
                      "sum(X * W) + b\n",
                      width, x.width),
                   {x.value, constant({width, x.width}), constant({width})}, width);
    }
    return add("matmul",
               op("mm(t: T, n: {}, k*: {})\nin X f32[t, k], W f32[n, k]\nout Y f32[t, n] = sum(X * W)\n",
                  width, x.width),
               {x.value, constant({width, x.width})}, width);
}

void Generator::unary() {
    // clang-format off
    static constexpr const char* kBodies[] = {
        "exp(X * 0.3)", "tanh(X)", "sigmoid(X) * X", "sqrt(abs(X) + 0.5)", "erf(X)", "rsqrt(abs(X) + 1)",
        "log(abs(X) + 1)", "max(X, 0.1) - min(X, 0.2)", "select(X < 0.05, -X, X)", "X * n - t * 0.01",
        "select(n mod 2 == 0 or t < 3, X, 0.5)"};
    // clang-format on
    const Matrix x = any();
    keep(add(
        "map",
        op(fmt::format("map(t: T, n: {{}})\nin X f32[t, n]\nout Y f32[t, n] = {}\n", kBodies[pick(0, 10)]),
           x.width),
        {x.value}, x.width));
}

void Generator::binary() {
    const Matrix x = any();
    keep(add("map",
             op("map(t: T, n: {})\nin X f32[t, n], w f32[n]\nout Y f32[t, n] = X * w + 0.1\n", x.width),
             {x.value, constant({x.width})}, x.width));
    const Matrix y = live_.back();
    keep(add(
        "map",
        op("map(t: T, n: {})\nin X f32[t, n], Z f32[t, n]\nout Y f32[t, n] = X / (abs(Z) + 1)\n", x.width),
        {x.value, y.value}, x.width));
}

void Generator::norm() {
    const Matrix x = any();
    const ValueId r = in_block(1).add(
        fresh("reduce"),
        op("reduce(t: T, n*: {})\nin X f32[t, n]\nout R f32[t] = rsqrt(sum(X * X) / {} + 0.01)\n", x.width,
           x.width),
        {x.value});
    keep(add("apply", op("apply(t: T, n: {})\nin X f32[t, n], R f32[t]\nout Y f32[t, n] = X * R\n", x.width),
             {x.value, r}, x.width));
}

void Generator::product() {
    keep(matmul(any(), extent()));
}

void Generator::fold() {
    static constexpr const char* kFolds[] = {"max(X * 0.5)", "min(X) + 0.1", "prod(1 + X * 0.01)",
                                             "sum(exp(X * 0.1)) * 0.05", "sum(X) * 0.1"};
    const Matrix x = any();
    const bool ragged = pick(0, 1) == 1;
    const int64_t which = pick(0, 4);
    // Without an executed iteration max is -inf: position[t] >= 0 always executes one.
    const ValueId r =
        in_block(1).add(fresh("fold"),
                        op(fmt::format("fold(t: T, n*: {{}})\n{}in X f32[t, n]\nout R f32[t] = {}\n{}",
                                       ragged ? "index position i32[t]\n" : "", kFolds[which],
                                       ragged ? "where n <= position[t]\n" : ""),
                           x.width),
                        ragged ? std::vector{position_, x.value} : std::vector{x.value});
    keep(add("apply",
             op("apply(t: T, n: {})\nin X f32[t, n], R f32[t]\nout Y f32[t, n] = tanh(X - R)\n", x.width),
             {x.value, r}, x.width));
}

void Generator::window() {
    const Matrix x = any();
    keep(add("window",
             op("window(t: T, n: {0}, j*: 3)\nin X f32[t, n + j - 1] of [T, {0}], F f32[j]\nout Y f32[t, "
                "n] = sum(X * F)\n",
                x.width),
             {x.value, constant({3})}, x.width));
}

void Generator::views() {
    const Matrix x = any();
    const int64_t form = pick(0, 2);
    if (form == 0) {  // transposed and back: both may be views
        const ValueId y = in_block(1).add(
            fresh("transpose"), op("transpose(n: {}, t: T)\nin X f32[t, n]\nout Y f32[n, t] = X\n", x.width),
            {x.value});
        keep(add("map", op("map(t: T, n: {})\nin X f32[n, t]\nout Y f32[t, n] = X * 0.7\n", x.width), {y},
                 x.width));
    } else if (form == 1 && x.width > 2) {  // a slice
        const int64_t width = x.width - 2;
        keep(add(
            "slice",
            op("slice(t: T, n: {0})\nin X f32[t, n + 1] of [T, {1}]\nout Y f32[t, n] = X\n", width, x.width),
            {x.value}, width));
    } else {  // reversed
        keep(add("reverse",
                 op("reverse(t: T, n: {0})\nin X f32[t, {1} - n] of [T, {0}]\nout Y f32[t, n] = X\n", x.width,
                    x.width - 1),
                 {x.value}, x.width));
    }
}

void Generator::gather() {
    const Matrix x = any();
    if (x.width != width_) return;
    keep(add("gather",
             op("gather(t: T, n: {0})\nindex slot i32[t]\nin E f32[slot[t], n] of [{1}, {0}], X f32[t, "
                "n]\nout Y f32[t, n] = E * 0.5 + X\n",
                width_, kSlots),
             {slot_, table_, x.value}, width_));
}

void Generator::masked() {
    const Matrix x = any();
    keep(add("masked",
             op("masked(t: T, n: {})\nindex position i32[t]\nin X f32[t, n]\nout Y f32[t, n] = X + "
                "1\nwhere n <= position[t] and t < 20\n",
                x.width),
             {position_, x.value}, x.width));
}

void Generator::state() {
    const Matrix x = any();
    const ValueId before = add_value(fresh("state"), ValueKind::kState, ElementType::kF32, {kSlots, x.width});
    const ValueId after = in_block(1).update(fresh("update"),
                                             op("store_rows(t: T, n: {0})\nindex slot i32[t]\nin X "
                                                "f32[t, n]\nupdate C f32[slot[t], n] of [{1}, {0}] = X\n",
                                                x.width, kSlots),
                                             {slot_, x.value}, before);
    keep(add("weighted",
             op("weighted(t: T, n: {0}, s*: {1})\nin C f32[s, n], X f32[t, n]\nout Y f32[t, n] = sum(C * "
                "0.05) + X\n",
                x.width, kSlots),
             {after, x.value}, x.width));
}

void Generator::rotate() {
    const Matrix x = any();
    if (x.width % 2 != 0) return;
    const bool halves = pick(0, 1) == 1;
    const std::string map = halves ? "select(n < {1}, -1, 1) * X[t, (n + {1}) mod {0}]"
                                   : "select(n mod 2 == 0, -1, 1) * X[t, n div 2 * 2 + 1 - n mod 2]";
    const std::string angle = halves ? "n mod {1}" : "n div 2";
    keep(add("rotate",
             op("rotate(t: T, n: {0})\nindex position i32[t]\nin X f32[t, n], c f32[position[t], " + angle +
                    "] of [{2}, {1}]\nout Y f32[t, n] = X * c + " + map + " * 0.5\n",
                x.width, x.width / 2, kSlots),
             {position_, x.value, constant({kSlots, x.width / 2})}, x.width));
}

void Generator::heads() {
    const Matrix x = any();
    int64_t h = 1;
    for (const int64_t candidate : {2, 3, 4}) h = x.width % candidate == 0 ? candidate : h;
    const int64_t e = x.width / h;
    const ValueId split = in_block(1).add(
        fresh("split"),
        op("split(t: T, h: {0}, e: {1})\nin X f32[t, h * {1} + e]\nout Y f32[t, h, e] = X\n", h, e),
        {x.value});
    const ValueId r = in_block(1).add(fresh("reduce"),
                                      op("reduce(t: T, h: {0}, e*: {1})\nin X f32[t, h, e]\nout R f32[t, "
                                         "h] = rsqrt(sum(X * X) / {1} + 0.01)\n",
                                         h, e),
                                      {split});
    const ValueId y = in_block(1).add(fresh("apply"),
                                      op("apply(t: T, h: {0}, e: {1})\nin X f32[t, h, e], R f32[t, h], w "
                                         "f32[e]\nout Y f32[t, h, e] = X * R * w\n",
                                         h, e),
                                      {split, r, constant({e})});
    keep(add("merge",
             op("merge(t: T, n: {0})\nin X f32[t, n div {1}, n mod {1}] of [T, {2}, {1}]\nout Y f32[t, "
                "n] = X\n",
                x.width, e, h),
             {y}, x.width));
}

/// A sum of products over two reductions, with a batch iterator.
void Generator::product2d() {
    const Matrix x = any();
    const int64_t width = extent();
    keep(add("product",
             op("product(t: T, n: {0}, k*: {1}, j*: 2)\nin X f32[t, k], W f32[j, n, k]\nout Y f32[t, n] "
                "= sum(X * W) * 0.2\n",
                width, x.width),
             {x.value, constant({2, width, x.width})}, width));
}

/// Rows folded into indirect places.
void Generator::scatter() {
    const Matrix x = any();
    const ValueId sums =
        in_block(1).add(fresh("scatter"),
                        op("scatter(t*: T, n: {0})\nindex slot i32[t]\nin X f32[t, n]\nout S f32[slot[t] "
                           "mod 8, n] of [8, {0}] = sum(X * 0.2)\n",
                           x.width),
                        {slot_, x.value});
    keep(add("spread",
             op("spread(t: T, n: {0})\nin S f32[t mod 8, n] of [8, {0}], X f32[t, n]\nout Y f32[t, n] = "
                "S + X * 0.5\n",
                x.width),
             {sums, x.value}, x.width));
}

/// A result with elements that nothing writes, from an operand of its shape.
void Generator::padded() {
    const Matrix x = any();
    const int64_t written = pick(1, x.width);
    keep(add("padded",
             op("padded(t: T, n: {0})\nin X f32[t, n] of [T, {1}]\nout Y f32[t, n] of [T, {1}] = X + 2\n",
                written, x.width),
             {x.value}, x.width));
    const Matrix y = live_.back();
    keep(add("map",
             op("map(t: T, n: {})\nin X f32[t, n], Y f32[t, n]\nout Z f32[t, n] = X + Y * 0.5\n", x.width),
             {x.value, y.value}, x.width));
}

/// A view that shows elements several times, and something that might take over its storage.
void Generator::repeated() {
    const Matrix x = any();
    const int64_t period = pick(1, x.width);
    const Matrix y =
        add("map", op("map(t: T, n: {})\nin X f32[t, n]\nout Y f32[t, n] = X * 0.5 + n * 0.1\n", x.width),
            {x.value}, x.width);
    const Matrix again =
        add("repeat",
            op("repeat(t: T, n: {0})\nin X f32[t, n mod {1}] of [T, {0}]\nout Y f32[t, n] = X\n", x.width,
               period),
            {y.value}, x.width);
    keep(add("map", op("map(t: T, n: {})\nin X f32[t, n]\nout Y f32[t, n] = X - n * 0.2\n", x.width),
             {again.value}, x.width));
}

/// A state that is added to.
void Generator::add_rows() {
    const Matrix x = any();
    const ValueId before = add_value(fresh("sums"), ValueKind::kState, ElementType::kF32, {8, x.width});
    const ValueId after =
        in_block(1).update(fresh("add"),
                           op("add_rows(t*: T, n: {0})\nindex slot i32[t]\nin X f32[t, n]\nupdate C "
                              "f32[slot[t] mod 8, n] of [8, {0}] = sum(X * 0.1)\n",
                              x.width),
                           {slot_, x.value}, before);
    keep(add("pick",
             op("pick(t: T, n: {0})\nin C f32[t mod 8, n] of [8, {0}], X f32[t, n]\nout Y f32[t, n] = C "
                "* 0.5 - X\n",
                x.width),
             {after, x.value}, x.width));
}

/// Predicates that bound iterators by constants and by others.
void Generator::few() {
    const Matrix x = any();
    static constexpr const char* kWhere[] = {"n < 5", "t < 3 and n >= 2", "n < t", "n <= t and t < 9"};
    keep(add("few",
             op(fmt::format("few(t: T, n: {{}})\nin X f32[t, n]\nout Y f32[t, n] = X - 1\nwhere {}\n",
                            kWhere[pick(0, 3)]),
                x.width),
             {x.value}, x.width));
    const Matrix y = live_.back();
    keep(add("few",
             op(fmt::format("few(t: T, n: {{0}}, j*: {{0}})\nin X f32[t, j], Z f32[t, n]\nout Y f32[t, "
                            "n] = sum(X * 0.1 + Z * 0.05) - 0.5\nwhere {}{}\n",
                            pick(0, 1) == 1 ? "j < 4 and " : "", kWhere[pick(0, 3)]),
                x.width),
             {y.value, x.value}, x.width));
}

/// Folds over the tokens, and over everything.
void Generator::columns() {
    const Matrix x = any();
    const ValueId sums = in_block(1).add(
        fresh("columns"),
        op("columns(t*: T, n: {})\nin X f32[t, n]\nout S f32[n] = sum(X) * 0.05\n", x.width), {x.value});
    const ValueId all = in_block(1).add(
        fresh("largest"), op("largest(u: 1, n*: {})\nin S f32[n]\nout R f32[u] = max(S)\n", x.width), {sums});
    keep(add("apply",
             op("apply(t: T, n: {})\nin X f32[t, n], S f32[n], R f32[0] of [1]\nout Y f32[t, n] = X - S "
                "+ R * 0.1\n",
                x.width),
             {x.value, sums, all}, x.width));
}

/// A sum of products into a state.
void Generator::accumulate() {
    const Matrix x = any();
    const ValueId before = add_value(fresh("total"), ValueKind::kState, ElementType::kF32, {x.width});
    const ValueId after =
        in_block(1).update(fresh("accumulate"),
                           op("accumulate(n: {0}, k*: {0})\nin X f32[0, k] of [T, {0}], W f32[n, k]\n"
                              "update C f32[n] = sum(X * W)\n",
                              x.width),
                           {x.value, constant({x.width, x.width})}, before);
    keep(add("map",
             op("map(t: T, n: {})\nin X f32[t, n], C f32[n]\nout Y f32[t, n] = X + C * 0.1\n", x.width),
             {x.value, after}, x.width));
}

}  // namespace tessera::testing
