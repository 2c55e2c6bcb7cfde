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
    const std::vector<int64_t> e = call.extents(x);
    call.expect(e.size() == 3 && heads > 0 && e[2] % heads == 0, fmt::format("has {} heads", heads));
    return transpose(call, call.build.with_shape(x, dims_of({e[0], e[1], heads, e[2] / heads})),
                     {0, 2, 1, 3});
}

/// Keys beyond the last column of a mask count as left out.
Operand masked(const Call& call, const Operand& scores, const Operand& mask, int64_t keys) {
    const int64_t columns = mask.rank() == 0 ? 1 : call.extents(mask).back();
    const bool is_truth = mask.type == DataType::kBool;
    Operand full = mask;
    std::string holds = is_truth ? "B != 0" : "";
    if (columns < keys && columns != 1) {
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
        past = call.extents(call.in(4)).at(2);
        k = concat(call, {call.in(4), k}, 2);
    }
    if (call.has(5)) v = concat(call, {call.in(5), v}, 2);
    const std::vector<int64_t> of_q = call.extents(q), of_k = call.extents(k), of_v = call.extents(v);
    call.expect(of_q.size() == 4 && of_k.size() == 4 && of_v.size() == 4 && of_q[0] == of_k[0] &&
                    of_q[3] == of_k[3] && of_k[1] == of_v[1] && of_k[2] == of_v[2] && of_k[1] > 0 &&
                    of_q[1] % of_k[1] == 0,
                "has queries, keys and values of shapes that do not fit");
    // A head of keys serves neighbouring heads of queries.
    const int64_t shared = of_q[1] / of_k[1];
    const std::string head = shared == 1 ? "h" : fmt::format("h div {}", shared);
    const double scale =
        call.has_attribute("scale") ? call.number("scale", 1) : 1 / std::sqrt(static_cast<double>(of_q[3]));
    const DataType type = sum_type(q.type);
    OperatorText products = operator_text(call);
    for (const auto& [name, extent] :
         {std::pair("b", of_q[0]), {"h", of_q[1]}, {"i", of_q[2]}, {"j", of_k[2]}})
        products.over(name, Dim(extent));
    const std::vector<Dim> shape = dims_of({of_q[0], of_q[1], of_q[2], of_k[2]});
    Operand scores = call.build.add(
        products.folding("e", Dim(of_q[3]))
            .read(q, "Q", {"b", "h", "i", "e"})
            .read(k, "K", {"b", head, "j", "e"})
            .write(type, shape, {"b", "h", "i", "j"}, fmt::format("sum(Q * K) * {}", real_text(scale))));
    const int64_t mode = call.integer("qk_matmul_output_mode", 0);
    Operand shown = scores;
    if (const double cap = call.number("softcap", 0); cap > 0)
        scores = elementwise(call, {scores}, fmt::format("tanh(A / {0}) * {0}", real_text(cap)));
    if (mode == 1) shown = scores;
    if (call.has(3)) scores = masked(call, scores, call.in(3), of_k[2]);
    if (call.integer("is_causal", 0) != 0)
        scores = elementwise(call, {scores}, fmt::format("select(x3 > x2 + {}, -inf, A)", past));
    if (call.has(6)) {
        const Operand valid =
            call.build.with_shape(call.in(6), {call.in(6).shape.at(0), Dim(1), Dim(1), Dim(1)});
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
        values.over(name, Dim(extent));
    Operand y = call.build.add(values.folding("j", Dim(of_k[2]))
                                   .read(weights, "P", {"b", "h", "i", "j"})
                                   .read(v, "V", {"b", head, "j", "e"})
                                   .write(q.type, dims_of({of_q[0], of_q[1], of_q[2], of_v[3]}),
                                          {"b", "h", "i", "e"}, "sum(P * V)"));
    if (is_flat)
        y = call.build.with_shape(transpose(call, y, {0, 2, 1, 3}),
                                  dims_of({of_q[0], of_q[2], of_q[1] * of_v[3]}));
    return {y, k, v, cast(call, shown, q.type)};
}

Results rotary_embedding(const Call& call) {
    const Operand& x = call.in(0);
    const bool is_flat = x.rank() == 3;
    const Operand heads = by_heads(call, x, call.integer("num_heads", 0));
    const std::vector<int64_t> e = call.extents(heads);
    call.expect(e.size() == 4, "needs [b, h, s, e]");
    const int64_t stated = call.integer("rotary_embedding_dim", 0), rotated = stated == 0 ? e[3] : stated;
    call.expect(rotated > 0 && rotated % 2 == 0 && rotated <= e[3],
                fmt::format("rotates {} of {} elements", rotated, e[3]));
    const int64_t half = rotated / 2;
    const bool is_interleaved = call.integer("interleaved", 0) != 0;
    const std::string pair = is_interleaved ? "e div 2" : fmt::format("e mod {}", half);
    const std::string partner =
        is_interleaved ? "e + 1 - 2 * (e mod 2)" : fmt::format("(e + {}) mod {}", half, rotated);
    const std::string is_first = is_interleaved ? "e mod 2 == 0" : fmt::format("e < {}", half);
    OperatorText text = operator_text(call);
    text.over("b", Dim(e[0])).over("h", Dim(e[1])).over("s", Dim(e[2])).over("e", Dim(e[3]));
    std::vector<std::string> place = {"b", "s", pair};
    if (call.has(3)) {
        text.index(call.in(3), "I", {"b", "s"});
        place = {"I[b, s]", pair};
    }
    for (const size_t cache : {1, 2})
        call.expect(call.in(cache).rank() == place.size() && call.extents(call.in(cache)).back() == half,
                    fmt::format("has a cache of angles that are not {}", half));
    text.read(heads, "X", {"b", "h", "s", "e"}).read(call.in(1), "C", place).read(call.in(2), "S", place);
    std::string value = fmt::format("X * C + select({}, -1, 1) * X[b, h, s, {}] * S", is_first, partner);
    if (rotated < e[3]) value = fmt::format("select(e < {}, {}, X)", rotated, value);
    const Operand y = call.build.add(text.write(x.type, heads.shape, {"b", "h", "s", "e"}, value));
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
