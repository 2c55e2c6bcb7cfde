// Attention and rotary embedding.
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "import/onnx/operators/families.h"
#include "import/onnx/primitives.h"

namespace tessera::import::onnx {
namespace {

using Results = std::vector<Operand>;

/// [b, s, n * e] as [b, n, s, e].
Operand by_heads(const Call& call, const Operand& x, int64_t heads) {
    if (x.rank() == 4) return x;
    call.expect(x.rank() == 3 && heads > 0 && call.extent(x, 2) % heads == 0,
                fmt::format("has {} heads", heads));
    const std::vector<Dim> split = {x.shape[0], x.shape[1], heads, call.extent(x, 2) / heads};
    return transpose(call, call.build.with_shape(x, split), {0, 2, 1, 3});
}

/// Keys beyond the last column of a mask count as left out.
Operand masked(const Call& call, const Operand& scores, const Operand& mask) {
    const bool is_truth = mask.type == DataType::kBool;
    Operand full = mask;
    std::string holds = is_truth ? "B != 0" : "";
    const Dim all = mask.rank() == 0 ? Dim(1) : mask.shape.back();
    if (all != Dim(1) && all != scores.shape[3]) {
        const int64_t columns = call.extent(mask, mask.rank() - 1), keys = call.extent(scores, 3);
        call.expect(columns < keys, fmt::format("has a mask of {} columns for {} keys", columns, keys));
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
    call.expect(q.rank() == 4 && k.rank() == 4 && v.rank() == 4, "needs [batch, heads, steps, width]");
    const std::vector<Dim>&of_q = q.shape, &of_k = k.shape, &of_v = v.shape;
    const int64_t query_heads = call.extent(q, 1), key_heads = call.extent(k, 1), width = call.extent(q, 3);
    call.expect(of_q[0] == of_k[0] && of_q[3] == of_k[3] && of_k[1] == of_v[1] && of_k[2] == of_v[2] &&
                    key_heads > 0 && query_heads % key_heads == 0,
                "has queries, keys and values of shapes that do not fit");
    // A head of keys serves neighbouring heads of queries.
    const int64_t shared = query_heads / key_heads;
    const std::string head = shared == 1 ? "h" : fmt::format("h div {}", shared);
    const double scale =
        call.has_attribute("scale") ? call.number("scale", 1) : 1 / std::sqrt(static_cast<double>(width));
    const DataType type = sum_type(q.type);
    OperatorText products = operator_text(call);
    for (const auto& [name, extent] :
         {std::pair("b", of_q[0]), {"h", of_q[1]}, {"i", of_q[2]}, {"j", of_k[2]}})
        products.over(name, extent);
    const std::vector<Dim> shape = {of_q[0], of_q[1], of_q[2], of_k[2]};
    Operand scores = call.build.add(
        products.folding("e", of_q[3])
            .read(q, "Q", {"b", "h", "i", "e"})
            .read(k, "K", {"b", head, "j", "e"})
            .write(type, shape, {"b", "h", "i", "j"}, fmt::format("sum(Q * K) * {}", real_text(scale))));
    const int64_t mode = call.integer("qk_matmul_output_mode", 0);
    Operand shown = scores;
    if (const double cap = call.number("softcap", 0); cap > 0)
        scores = elementwise(call, {scores}, fmt::format("tanh(A / {0}) * {0}", real_text(cap)));
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
    const Operand numbers = cast(call, scores, sum_type(precision));
    // A row without any key gives zeros.
    const Operand largest = elementwise(call, {reduce(call, numbers, {3}, true, "max(X)", numbers.type)},
                                        "select(A == -inf, 0, A)");
    const Operand power = elementwise(call, {numbers, largest}, "exp(A - B)");
    const Operand sum = reduce(call, power, {3}, true, "sum(X)", power.type);
    const Operand weights = cast(call, elementwise(call, {power, sum}, "select(B == 0, 0, A / B)"), type);
    if (mode == 3) shown = weights;
    OperatorText values = operator_text(call);
    for (const auto& [name, extent] :
         {std::pair("b", of_q[0]), {"h", of_q[1]}, {"i", of_q[2]}, {"e", of_v[3]}})
        values.over(name, extent);
    Operand y = call.build.add(
        values.folding("j", of_k[2])
            .read(weights, "P", {"b", "h", "i", "j"})
            .read(v, "V", {"b", head, "j", "e"})
            .write(q.type, {of_q[0], of_q[1], of_q[2], of_v[3]}, {"b", "h", "i", "e"}, "sum(P * V)"));
    if (is_flat)
        y = call.build.with_shape(transpose(call, y, {0, 2, 1, 3}),
                                  {of_q[0], of_q[2], query_heads * call.extent(v, 3)});
    return {y, k, v, cast(call, shown, q.type)};
}

Results rotary_embedding(const Call& call) {
    const Operand& x = call.in(0);
    const bool is_flat = x.rank() == 3;
    const Operand heads = by_heads(call, x, call.integer("num_heads", 0));
    call.expect(heads.rank() == 4, "needs [b, h, s, e]");
    const int64_t width = call.extent(heads, 3), stated = call.integer("rotary_embedding_dim", 0),
                  rotated = stated == 0 ? width : stated;
    call.expect(rotated > 0 && rotated % 2 == 0 && rotated <= width,
                fmt::format("rotates {} of {} elements", rotated, width));
    const int64_t half = rotated / 2;
    const bool is_interleaved = call.integer("interleaved", 0) != 0;
    const std::string pair = is_interleaved ? "e div 2" : fmt::format("e mod {}", half);
    const std::string partner =
        is_interleaved ? "e + 1 - 2 * (e mod 2)" : fmt::format("(e + {}) mod {}", half, rotated);
    const std::string is_first = is_interleaved ? "e mod 2 == 0" : fmt::format("e < {}", half);
    OperatorText text = operator_text(call);
    const std::vector<std::string> axes = {"b", "h", "s", "e"};
    for (size_t a = 0; a < axes.size(); ++a) text.over(axes[a], heads.shape[a]);
    std::vector<std::string> place = {"b", "s", pair};
    if (call.has(3)) {
        text.index(call.in(3), "I", {"b", "s"});
        place = {"I[b, s]", pair};
    }
    for (const size_t cache : {1, 2})
        call.expect(call.in(cache).rank() == place.size() && call.in(cache).shape.back() == Dim(half),
                    fmt::format("has a cache of angles that are not {}", half));
    text.read(heads, "X", axes).read(call.in(1), "C", place).read(call.in(2), "S", place);
    std::string value = fmt::format("X * C + select({}, -1, 1) * X[b, h, s, {}] * S", is_first, partner);
    if (rotated < width) value = fmt::format("select(e < {}, {}, X)", rotated, value);
    const Operand y = call.build.add(text.write(x.type, heads.shape, axes, value));
    if (!is_flat) return {y};
    return {call.build.with_shape(transpose(call, y, {0, 2, 1, 3}), x.shape)};
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
