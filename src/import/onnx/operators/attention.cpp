// Attention and rotary embedding.
#include "import/onnx/attention.h"

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "import/onnx/operators/families.h"
#include "import/onnx/primitives.h"

namespace tessera::import::onnx {
namespace {

/// The head of keys that the head h of queries reads.
std::string head_of_keys(int64_t query_heads, int64_t key_heads) {
    return query_heads == key_heads ? "h" : fmt::format("h div {}", query_heads / key_heads);
}

}  // namespace

Operand by_heads(const Call& call, const Operand& x, int64_t heads) {
    if (x.rank() == 4) return x;
    call.expect(x.rank() == 3 && heads > 0 && call.extent(x, 2) % heads == 0,
                fmt::format("has {} heads", heads));
    const std::vector<Dim> split = {x.shape[0], x.shape[1], heads, call.extent(x, 2) / heads};
    return transpose(call, call.build.with_shape(x, split), {0, 2, 1, 3});
}

Operand without_heads(const Call& call, const Operand& x) {
    return call.build.with_shape(transpose(call, x, {0, 2, 1, 3}),
                                 {x.shape[0], x.shape[2], call.extent(x, 1) * call.extent(x, 3)});
}

double default_scale(const Call& call, const Operand& q) {
    return 1 / std::sqrt(static_cast<double>(call.extent(q, 3)));
}

Operand attention_scores(const Call& call, const Operand& q, const Operand& k, double scale) {
    call.expect(q.rank() == 4 && k.rank() == 4, "needs [batch, heads, steps, width]");
    const std::vector<Dim>&of_q = q.shape, &of_k = k.shape;
    const int64_t query_heads = call.extent(q, 1), key_heads = call.extent(k, 1);
    call.expect(of_q[0] == of_k[0] && of_q[3] == of_k[3] && key_heads > 0 && query_heads % key_heads == 0,
                "has queries, keys and values of shapes that do not fit");
    OperatorText products = operator_text(call);
    for (const auto& [name, extent] :
         {std::pair("b", of_q[0]), {"h", of_q[1]}, {"i", of_q[2]}, {"j", of_k[2]}})
        products.over(name, extent);
    return call.build.add(products.folding("e", of_q[3])
                              .read(q, "Q", {"b", "h", "i", "e"})
                              .read(k, "K", {"b", head_of_keys(query_heads, key_heads), "j", "e"})
                              .write(sum_type(q.type), {of_q[0], of_q[1], of_q[2], of_k[2]},
                                     {"b", "h", "i", "j"}, fmt::format("sum(Q * K) * {}", real_text(scale))));
}

Operand softly_capped(const Call& call, const Operand& scores, double cap) {
    if (cap <= 0) return scores;
    return elementwise(call, {scores}, fmt::format("tanh(A / {0}) * {0}", real_text(cap)));
}

Operand attention_weights(const Call& call, const Operand& scores) {
    const Operand largest = elementwise(call, {reduce(call, scores, {3}, true, "max(X)", scores.type)},
                                        "select(A == -inf, 0, A)");
    const Operand power = elementwise(call, {scores, largest}, "exp(A - B)");
    const Operand sum = reduce(call, power, {3}, true, "sum(X)", power.type);
    return elementwise(call, {power, sum}, "select(B == 0, 0, A / B)");
}

Operand attended(const Call& call, const Operand& weights, const Operand& v, DataType type) {
    call.expect(v.rank() == 4 && v.shape[0] == weights.shape[0] && v.shape[2] == weights.shape[3] &&
                    call.extent(v, 1) > 0 && call.extent(weights, 1) % call.extent(v, 1) == 0,
                "has queries, keys and values of shapes that do not fit");
    OperatorText values = operator_text(call);
    const std::vector<Dim> shape = {weights.shape[0], weights.shape[1], weights.shape[2], v.shape[3]};
    const std::vector<std::string> axes = {"b", "h", "i", "e"};
    for (size_t axis = 0; axis < axes.size(); ++axis) values.over(axes[axis], shape[axis]);
    return call.build.add(
        values.folding("j", v.shape[2])
            .read(weights, "P", {"b", "h", "i", "j"})
            .read(v, "V", {"b", head_of_keys(call.extent(weights, 1), call.extent(v, 1)), "j", "e"})
            .write(type, shape, axes, "sum(P * V)"));
}

Operand rotated(const Call& call, const Operand& x, const Operand& cosines, const Operand& sines,
                const Operand* places, const Rotation& rotation) {
    call.expect(x.rank() == 4, "needs [b, h, s, e]");
    const int64_t width = call.extent(x, 3);
    call.expect(rotation.width > 0 && rotation.width % 2 == 0 && rotation.width <= width,
                fmt::format("rotates {} of {} elements", rotation.width, width));
    const int64_t half = rotation.width / 2;
    const std::string pair = rotation.is_interleaved ? "e div 2" : fmt::format("e mod {}", half);
    const std::string partner = rotation.is_interleaved
                                    ? "e + 1 - 2 * (e mod 2)"
                                    : fmt::format("(e + {}) mod {}", half, rotation.width);
    const std::string is_first = rotation.is_interleaved ? "e mod 2 == 0" : fmt::format("e < {}", half);
    OperatorText text = operator_text(call);
    const std::vector<std::string> axes = {"b", "h", "s", "e"};
    for (size_t a = 0; a < axes.size(); ++a) text.over(axes[a], x.shape[a]);
    std::vector<std::string> place = {"b", "s", pair};
    if (places) {
        // As all computed places, these lead nowhere else.
        call.expect(call.extent(cosines, 0) > 0, "has caches of no angles");
        text.index(*places, "I", {"b", "s"});
        place = {fmt::format("I[b, s] mod {}", call.extent(cosines, 0)), pair};
    }
    for (const Operand& cache : {cosines, sines})
        call.expect(cache.rank() == place.size() && cache.shape.back() == Dim(half),
                    fmt::format("has a cache of angles that are not {}", half));
    text.read(x, "X", axes).read(cosines, "C", place).read(sines, "S", place);
    std::string value = fmt::format("X * C + select({}, -1, 1) * X[b, h, s, {}] * S", is_first, partner);
    if (rotation.width < width) value = fmt::format("select(e < {}, {}, X)", rotation.width, value);
    return call.build.add(text.write(x.type, x.shape, axes, value));
}

namespace {

using Results = std::vector<Operand>;

/// Keys beyond the last column of a mask count as left out.
Operand masked(const Call& call, const Operand& scores, const Operand& mask) {
    const bool is_truth = mask.type == DataType::kBool;
    Operand full = mask;
    std::string holds = is_truth ? "B != 0" : "";
    const Dim all = mask.rank() == 0 ? Dim(1) : mask.shape.back();
    if (all != Dim(1) && all != scores.shape[3]) {
        const int64_t columns = call.extent(mask, mask.rank() - 1), keys = call.extent(scores, 3);
        call.expect(columns < keys && keys <= kMostKnown,
                    fmt::format("has a mask of {} columns for {} keys", columns, keys));
        std::vector<int64_t> table;
        for (int64_t j = 0; j < keys; ++j) table.push_back(j < columns ? j : -1);
        full = pick(call, mask, mask.rank() - 1, table);
        holds = fmt::format("x3 < {}{}", columns, is_truth ? " and B != 0" : "");
    }
    if (holds.empty()) return elementwise(call, {scores, full}, "A + B");
    return elementwise(call, {scores, full},
                       fmt::format("select({}, A{}, -inf)", holds, is_truth ? "" : " + B"));
}

Results attention_operator(const Call& call) {
    const int64_t q_heads = call.integer("q_num_heads", 0), kv_heads = call.integer("kv_num_heads", 0);
    const bool is_flat = call.in(0).rank() == 3;
    const Operand q = by_heads(call, call.in(0), q_heads);
    Operand k = by_heads(call, call.in(1), kv_heads), v = by_heads(call, call.in(2), kv_heads);
    int64_t past = 0;
    if (call.has(4)) {
        call.expect(call.in(4).rank() == 4 && k.rank() == 4, "has past keys that are no heads");
        past = call.extent(call.in(4), 2);
        k = concat(call, {call.in(4), k}, 2);
    }
    if (call.has(5)) v = concat(call, {call.in(5), v}, 2);
    call.expect(k.rank() == 4 && v.rank() == 4 && k.shape[1] == v.shape[1],
                "has other heads of values than of keys");
    Operand scores = attention_scores(
        call, q, k, call.has_attribute("scale") ? call.number("scale", 1) : default_scale(call, q));
    const DataType type = scores.type;
    const int64_t mode = call.integer("qk_matmul_output_mode", 0);
    Operand shown = scores;
    scores = softly_capped(call, scores, call.number("softcap", 0));
    if (mode == 1) shown = scores;
    if (call.has(3)) scores = masked(call, scores, call.in(3));
    if (call.integer("is_causal", 0) != 0)
        scores = elementwise(call, {scores}, fmt::format("select(x3 > x2 + {}, -inf, A)", past));
    if (call.has(6)) {
        call.expect(call.in(6).rank() == 1, "has lengths that are no vector");
        const Operand valid =
            call.build.with_shape(call.in(6), {call.in(6).shape[0], Dim(1), Dim(1), Dim(1)});
        scores = elementwise(call, {scores, valid}, "select(x3 < B, A, -inf)");
    }
    if (mode == 2) shown = scores;
    const auto precision =
        static_cast<DataType>(call.integer("softmax_precision", static_cast<int64_t>(type)));
    call.expect(sum_type(precision) == DataType::kFloat || precision == DataType::kDouble,
                fmt::format("has a softmax of {}", name(precision)));
    const Operand weights =
        cast(call, attention_weights(call, cast(call, scores, sum_type(precision))), type);
    if (mode == 3) shown = weights;
    const Operand y = attended(call, weights, v, q.type);
    return {is_flat ? without_heads(call, y) : y, k, v, cast(call, shown, q.type)};
}

Results rotary_embedding(const Call& call) {
    const Operand& x = call.in(0);
    const Operand heads = by_heads(call, x, call.integer("num_heads", 0));
    call.expect(heads.rank() == 4, "needs [b, h, s, e]");
    const int64_t stated = call.integer("rotary_embedding_dim", 0);
    const Operand y = rotated(call, heads, call.in(1), call.in(2), call.given(3),
                              {.width = stated == 0 ? call.extent(heads, 3) : stated,
                               .is_interleaved = call.integer("interleaved", 0) != 0});
    return {x.rank() == 3 ? without_heads(call, y) : y};
}

}  // namespace

std::span<const Operator> attention() {
    static constexpr std::array kOperators = {
        Operator{"Attention", attention_operator},
        Operator{"RotaryEmbedding", rotary_embedding},
    };
    return kOperators;
}

}  // namespace tessera::import::onnx
