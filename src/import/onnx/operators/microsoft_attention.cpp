// Attention as onnxruntime fuses it: projections, caches and masks of several kinds are part of one node.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "import/onnx/attention.h"
#include "import/onnx/operators/families.h"
#include "import/onnx/primitives.h"

namespace tessera::import::onnx {
namespace {

using Results = std::vector<Operand>;

constexpr double kLeftOut = -10000;  ///< added to scores of keys that a mask leaves out

/// The attribute `scale`, where 0 says that there is none.
double scale_of(const Call& call, const Operand& q) {
    const double stated = call.number("scale", 0);
    return stated == 0 ? default_scale(call, q) : stated;
}

/// Elements begin, ..., begin + count - 1 of the last axis of x, or of another one.
Operand part_of(const Call& call, const Operand& x, size_t axis, int64_t begin, int64_t count) {
    return slice(call, x, {number_range(axis, begin, 1, count)});
}

/// One of several tensors that are stacked along an axis, which vanishes.
Operand layer_of(const Call& call, const Operand& x, size_t axis, int64_t number) {
    std::vector<Dim> shape = x.shape;
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
    return call.build.with_shape(part_of(call, x, axis, number, 1), shape);
}

/// Keys and values, [2, b, n, s, e].
Operand stacked(const Call& call, const Operand& k, const Operand& v) {
    std::vector<Dim> shape = k.shape;
    call.expect(v.shape == shape, "has values of another width than its keys");
    shape.insert(shape.begin(), Dim(1));
    return concat(call, {call.build.with_shape(k, shape), call.build.with_shape(v, shape)}, 0);
}

/// Scores of keys that the mask leaves out become low. It has a truth for each key, or for each query and
/// key, or the number of keys of each sequence, with the first of them behind.
Operand padding_masked(const Call& call, const Operand& scores, const Operand& mask) {
    const std::string low = real_text(call.number("mask_filter_value", kLeftOut));
    const Dim batch = scores.shape[0], keys = scores.shape[3];
    if (mask.rank() == 1) {
        const int64_t sequences = call.extent(scores, 0), stated = call.extent(mask, 0);
        call.expect(stated == sequences || stated == 2 * sequences,
                    fmt::format("has a mask of {} numbers for {} sequences", stated, sequences));
        const std::vector<Dim> beside = {batch, Dim(1), Dim(1), Dim(1)};
        const auto numbers = [&](int64_t first) {
            return call.build.with_shape(part_of(call, mask, 0, first, sequences), beside);
        };
        if (stated == sequences)
            return elementwise(call, {scores, numbers(0)}, fmt::format("A + select(x3 < B, 0, {})", low));
        return elementwise(call, {scores, numbers(0), numbers(sequences)},
                           fmt::format("A + select(x3 < B and x3 >= C, 0, {})", low));
    }
    std::vector<Dim> shape = mask.shape;
    call.expect((mask.rank() == 2 && shape == std::vector<Dim>{batch, keys}) ||
                    (mask.rank() == 3 && shape == std::vector<Dim>{batch, scores.shape[2], keys}),
                fmt::format("has a mask of the shape {} for scores of {}", shape_text(shape),
                            shape_text(scores.shape)));
    shape.insert(shape.begin() + 1, mask.rank() == 2 ? 2 : 1, Dim(1));
    return elementwise(call, {scores, call.build.with_shape(mask, shape)},
                       fmt::format("A + select(B > 0, 0, {})", low));
}

/// Queries see keys up to their own, behind `past` ones.
Operand causal(const Call& call, const Operand& scores, int64_t past) {
    if (call.integer("unidirectional", 0) == 0) return scores;
    return elementwise(call, {scores}, fmt::format("select(x3 > x2 + {}, -inf, A)", past));
}

/// Softmax and values, [b, s, n * e].
Operand mixed(const Call& call, const Operand& scores, const Operand& v, DataType type) {
    return without_heads(call, attended(call, attention_weights(call, scores), v, type));
}

struct Projections {
    Operand q, k, v;
};

/// Attention of what is projected: a cache before the keys, a mask, a bias of the scores.
Results attention_of(const Call& call, const Projections& all, const Operand* mask, const Operand* past,
                     const Operand* bias) {
    Operand k = all.k, v = all.v;
    int64_t held = 0;
    if (past) {
        call.expect(past->rank() == 5 && past->shape[0] == Dim(2), "has a cache that is not [2, b, n, s, e]");
        held = call.extent(*past, 3);
        k = concat(call, {layer_of(call, *past, 0, 0), k}, 2);
        v = concat(call, {layer_of(call, *past, 0, 1), v}, 2);
    }
    Operand scores = attention_scores(call, all.q, k, scale_of(call, all.q));
    if (mask) scores = padding_masked(call, scores, *mask);
    scores = causal(call, scores, held);
    if (bias) scores = elementwise(call, {scores, *bias}, "A + B");
    Results results = {mixed(call, scores, v, all.q.type)};
    if (call.wants(1)) results.push_back(stacked(call, k, v));
    return results;
}

/// x W + b, cut into queries, keys and values by heads.
Projections projected(const Call& call, const Operand& all) {
    const int64_t heads = call.integer("num_heads", 0), width = call.extent(all, 2);
    std::vector<int64_t> widths = call.integers("qkv_hidden_sizes", {width / 3, width / 3, width / 3});
    call.expect(widths.size() == 3 && widths[0] == widths[1] && widths[0] > 0 && widths[2] > 0 &&
                    widths[0] + widths[1] + widths[2] == width,
                fmt::format("projects to {} elements", width));
    const auto part = [&](int64_t begin, int64_t count) {
        return by_heads(call, part_of(call, all, 2, begin, count), heads);
    };
    return {part(0, widths[0]), part(widths[0], widths[1]), part(widths[0] + widths[1], widths[2])};
}

void expect_plain(const Call& call) {
    call.expect(call.integer("do_rotary", 0) == 0, "turns its queries itself (do_rotary)");
    call.expect(call.integer("past_present_share_buffer", 0) == 0,
                "shares a buffer between its caches (past_present_share_buffer)");
}

Results fused_attention(const Call& call) {
    expect_plain(call);
    call.expect(!call.has(6), "has a cache with a length of its own (past_sequence_length)");
    Operand all = product(call, call.in(0), call.in(1), call.in(0).type);
    if (call.has(2)) all = elementwise(call, {all, call.in(2)}, "A + B");
    return attention_of(call, projected(call, all), call.given(3), call.given(4), call.given(5));
}

Results q_attention(const Call& call) {
    expect_plain(call);
    const auto zero = [&](size_t input) {
        return call.has(input) ? call.in(input) : known_scalar(DataType::kInt32, 0);
    };
    const auto scalar = [&](const Operand& x) {
        return x.elements() == 1 ? call.build.with_shape(x, {}) : x;
    };
    const Operand sum = product(call, less_zero_point(call, call.in(0), scalar(zero(6))),
                                less_zero_point(call, call.in(1), scalar(zero(7))), DataType::kInt32);
    const Operand all = elementwise(call, {sum, scalar(call.in(3)), scalar(call.in(4)), call.in(2)},
                                    "A * (B * C) + D", call.in(2).type);
    return attention_of(call, projected(call, all), call.given(5), call.given(8), nullptr);
}

/// [b, s, n, parts, e] cut into its parts, by heads.
Operand packed_part(const Call& call, const Operand& x, int64_t number) {
    return transpose(call, layer_of(call, x, 3, number), {0, 2, 1, 3});
}

/// Queries, keys and values of MultiHeadAttention, which may be packed; some of them by heads.
Projections unpacked(const Call& call) {
    const Operand& query = call.in(0);
    if (query.rank() == 5) {
        call.expect(!call.has(1) && !call.has(2), "has keys beside those that are packed");
        return {packed_part(call, query, 0), packed_part(call, query, 1), packed_part(call, query, 2)};
    }
    if (call.in(1).rank() == 5)
        return {query, packed_part(call, call.in(1), 0), packed_part(call, call.in(1), 1)};
    return {query, call.in(1), call.in(2)};
}

/// With a vector that has a part for each of them.
Projections biased_projections(const Call& call, const Projections& all, const Operand& bias) {
    call.expect(bias.rank() == 1 && all.q.rank() == 3 && all.k.rank() == 3 && all.v.rank() == 3,
                "has a bias beside keys or values by heads");
    int64_t begin = 0;
    const auto next_biased = [&](const Operand& x) {
        const int64_t width = call.extent(x, 2);
        call.expect(width <= call.extent(bias, 0) - begin, "has a bias that is too short");
        const Operand own = part_of(call, bias, 0, begin, width);
        begin += width;
        return elementwise(call, {x, own}, "A + B");
    };
    // In this order.
    Projections results;
    results.q = next_biased(all.q);
    results.k = next_biased(all.k);
    results.v = next_biased(all.v);
    return results;
}

Results multi_head_attention(const Call& call) {
    call.expect(!call.has(8) && !call.has(9), "has a cache with a length of its own, or beams");
    call.expect(!call.wants(3), "shows its scores");
    const int64_t heads = call.integer("num_heads", 0);
    Projections all = unpacked(call);
    if (call.has(3)) all = biased_projections(call, all, call.in(3));
    const Operand q = by_heads(call, all.q, heads);
    Operand k = by_heads(call, all.k, heads), v = by_heads(call, all.v, heads);
    int64_t held = 0;
    if (call.has(6)) {
        held = call.extent(call.in(6), 2);
        k = concat(call, {call.in(6), k}, 2);
        v = concat(call, {call.in(7), v}, 2);
    }
    Operand scores = attention_scores(call, q, k, scale_of(call, q));
    if (call.has(4)) scores = padding_masked(call, scores, call.in(4));
    scores = causal(call, scores, held);
    if (call.has(5)) scores = elementwise(call, {scores, call.in(5)}, "A + B");
    return {mixed(call, scores, v, call.in(0).type), k, v};
}

/// Rows of tables by places: positions of each batch and step, or the first of each.
Operand places_of(const Call& call, const Operand& positions, const Dim& batch, const Dim& steps) {
    if (positions.rank() == 2 && positions.shape == std::vector<Dim>{batch, steps}) return positions;
    const bool is_one = positions.rank() <= 1 && positions.elements() == 1;
    call.expect(is_one, "has positions of another shape than its batch and steps");
    const Operand first = call.build.with_shape(positions, {Dim(1), Dim(1)});
    return elementwise(call, {expand(call, first, {batch, steps})}, "A + x1");
}

Results microsoft_rotary_embedding(const Call& call) {
    const Operand& x = call.in(0);
    call.expect(call.integer("is_packed_batching", 0) == 0, "packs sequences of several lengths");
    call.expect(call.number("scale", 1) == 1, "scales its result");
    const int64_t half = call.extent(call.in(2), 1), stated = call.integer("rotary_embedding_dim", 0);
    int64_t heads = call.integer("num_heads", 0);
    if (x.rank() == 3 && heads == 0) heads = call.extent(x, 2) / std::max<int64_t>(2 * half, 1);
    const Operand by_head = by_heads(call, x, heads);
    const Operand places = places_of(call, call.in(1), by_head.shape[0], by_head.shape[2]);
    const Operand y = rotated(call, by_head, call.in(2), call.in(3), &places,
                              {.width = stated == 0 ? call.extent(by_head, 3) : stated,
                               .is_interleaved = call.integer("interleaved", 0) != 0});
    return {x.rank() == 3 ? without_heads(call, y) : y};
}

/// The cache with rows that begin at a place of each sequence. @param place [b, 1, 1, 1]
Operand with_rows(const Call& call, const Operand* past, const Operand& rows, const Operand& place,
                  int64_t room) {
    OperatorText text = operator_text(call);
    const std::vector<Dim> shape = {rows.shape[0], rows.shape[1], Dim(room), rows.shape[3]};
    const std::vector<std::string> axes = {"b", "h", "j", "e"};
    for (size_t axis = 0; axis < axes.size(); ++axis) text.over(axes[axis], shape[axis]);
    const int64_t count = call.extent(rows, 2);
    text.index(place, "I", {"b"}).read(rows, "R", {"b", "h", fmt::format("(j - I[b]) mod {}", count), "e"});
    std::string before = "0";
    if (const int64_t held = past ? call.extent(*past, 2) : 0; held > 0) {
        text.read(*past, "P", {"b", "h", fmt::format("j mod {}", held), "e"});
        before = fmt::format("select(j < {}, P, 0)", held);
    }
    return call.build.add(text.write(
        rows.type, shape, axes, fmt::format("select(j >= I[b] and j < I[b] + {}, R, {})", count, before)));
}

Results group_query_attention(const Call& call) {
    // Both are -1 or 0 where they are not wanted.
    for (const char* name : {"smooth_softmax", "qk_output"})
        call.expect(call.integer(name, 0) <= 0,
                    fmt::format("has the attribute {}, which is not supported", name));
    for (const char* name : {"k_quant_type", "v_quant_type"})
        call.expect(call.text(name, "NONE") == "NONE", "quantises its cache");
    call.expect(!call.has(11), "has a sink of its heads");
    const int64_t heads = call.integer("num_heads", 0), key_heads = call.integer("kv_num_heads", 0);
    Operand q = call.in(0), k, v;
    if (call.has(1)) {
        k = call.in(1);
        v = call.in(2);
    } else {
        const int64_t all = heads + 2 * key_heads;
        call.expect(q.rank() == 3 && heads > 0 && key_heads > 0 && call.extent(q, 2) % all == 0,
                    "packs other heads");
        const int64_t width = call.extent(q, 2) / all;
        k = part_of(call, q, 2, heads * width, key_heads * width);
        v = part_of(call, q, 2, (heads + key_heads) * width, key_heads * width);
        q = part_of(call, q, 2, 0, heads * width);
    }
    q = by_heads(call, q, heads);
    k = by_heads(call, k, key_heads);
    v = by_heads(call, v, key_heads);
    const Dim batch = q.shape[0];
    const int64_t steps = call.extent(q, 2), total = call.known_integer(6);
    const int64_t held = call.has(3) ? call.extent(call.in(3), 2) : 0, room = std::max(held, total);
    call.expect(total >= steps, fmt::format("has {} steps of {} in all", steps, total));
    // The first of the new steps in each sequence: behind those that there were, of which the input counts
    // all but the last one.
    const Operand place = total == steps ? expand(call, known_scalar(DataType::kInt32, 0), {batch})
                                         : elementwise(call, {call.build.with_shape(call.in(5), {batch})},
                                                       fmt::format("max(0, A + 1 - {})", steps));
    if (call.integer("do_rotary", 0) != 0) {
        const Operand first = call.build.with_shape(place, {batch, Dim(1)});
        const Operand places = call.has(9)
                                   ? call.in(9)
                                   : elementwise(call, {expand(call, first, {batch, Dim(steps)})}, "A + x1");
        call.expect(places.rank() == 2, "has positions of another shape than its batch and steps");
        const Rotation rotation{.width = 2 * call.extent(call.in(7), 1),
                                .is_interleaved = call.integer("rotary_interleaved", 0) != 0};
        q = rotated(call, q, call.in(7), call.in(8), &places, rotation);
        k = rotated(call, k, call.in(7), call.in(8), &places, rotation);
    }
    k = with_rows(call, call.given(3), k, place, room);
    v = with_rows(call, call.given(4), v, place, room);
    Operand scores = attention_scores(call, q, k, scale_of(call, q));
    scores = softly_capped(call, scores, call.number("softcap", 0));
    if (call.has(10)) scores = elementwise(call, {scores, part_of(call, call.in(10), 3, 0, room)}, "A + B");
    const int64_t window = call.integer("local_window_size", -1);
    const Operand beside = call.build.with_shape(place, {batch, Dim(1), Dim(1), Dim(1)});
    scores = elementwise(call, {scores, beside},
                         fmt::format("select(x3 <= B + x2{}, A, -inf)",
                                     window > 0 ? fmt::format(" and x3 > B + x2 - {}", window) : ""));
    return {mixed(call, scores, v, call.in(0).type), k, v};
}

}  // namespace

std::span<const Operator> microsoft_attention() {
    static constexpr std::array kOperators = {
        Operator{"Attention", fused_attention, kMicrosoft},
        Operator{"GroupQueryAttention", group_query_attention, kMicrosoft},
        Operator{"MultiHeadAttention", multi_head_attention, kMicrosoft},
        Operator{"QAttention", q_attention, kMicrosoft},
        Operator{"RotaryEmbedding", microsoft_rotary_embedding, kMicrosoft},
    };
    return kOperators;
}

}  // namespace tessera::import::onnx
