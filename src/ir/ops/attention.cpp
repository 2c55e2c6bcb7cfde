#include "ir/ops/attention.h"

#include <fmt/core.h>

#include "ir/ops/activation.h"
#include "ir/ops/cache_update.h"
#include "ir/ops/key_index.h"
#include "support/error.h"

namespace tessera::ops {
namespace {

constexpr const char* kRounded = "rounded";
constexpr const char* kCap = "cap";
constexpr const char* kWindow = "window";
constexpr const char* kAhead = "ahead";
constexpr const char* kChunk = "chunk";
constexpr const char* kCache = "cache";
constexpr const char* kQ8 = "q8_0";
constexpr const char* kSlopes = "slopes";
constexpr const char* kPart = "part";
constexpr const char* kSource = "source";
constexpr const char* kTarget = "target";
constexpr const char* kSinks = "sinks";
constexpr const char* kDistances = "distances";
constexpr const char* kQueryDistances = "query_distances";
constexpr const char* kKeyDistances = "key_distances";
constexpr const char* kChosen = "chosen";

/// The type that the attribute states; f32 without it.
ElementType rounded_type(const Node& node) {
    if (!std::get<Composite>(node.op).attributes.contains(kRounded)) return ElementType::kF32;
    const std::string text = text_attribute(node, kRounded);
    const auto type = element_type_of(text);
    if (type == ElementType::kF32 || type == ElementType::kBF16) return *type;
    throw Error(std::string(kAttention), node.name,
                fmt::format("{} is {}, expected f32 or bf16", kRounded, text));
}

AttentionForm form_of(const Node& node) {
    const auto& attributes = std::get<Composite>(node.op).attributes;
    AttentionForm form{.scale = real_attribute(node, "scale"), .rounded = rounded_type(node)};
    if (attributes.contains(kCap)) form.cap = real_attribute(node, kCap);
    if (attributes.contains(kWindow)) form.window = integer_attribute(node, kWindow);
    if (attributes.contains(kAhead)) form.ahead = integer_attribute(node, kAhead);
    if (attributes.contains(kChunk)) form.chunk = integer_attribute(node, kChunk);
    if (attributes.contains(kPart)) {
        const std::string part = text_attribute(node, kPart);
        if (part != kSource && part != kTarget)
            throw Error(std::string(kAttention), node.name,
                        fmt::format("{} is {}, expected source or target", kPart, part));
        form.part = part == kSource ? AttentionPart::kSource : AttentionPart::kTarget;
    }
    form.has_slopes = attributes.contains(kSlopes);
    form.has_sinks = attributes.contains(kSinks);
    form.has_distances = attributes.contains(kDistances);
    form.has_query_distances = attributes.contains(kQueryDistances);
    form.has_key_distances = attributes.contains(kKeyDistances);
    if (attributes.contains(kChosen)) form.chosen = integer_attribute(node, kChosen);
    if (form.chosen < 0) throw Error(std::string(kAttention), node.name, "chooses fewer than no keys");
    if (!(form.cap >= 0)) throw Error(std::string(kAttention), node.name, "the cap is negative");
    if (form.window < 0 || form.ahead < kWhole || form.chunk < 0)
        throw Error(std::string(kAttention), node.name, "the window is negative");
    if (attributes.contains(kCache)) {
        if (text_attribute(node, kCache) != kQ8)
            throw Error(std::string(kAttention), node.name,
                        fmt::format("{} is {}, expected {}", kCache, text_attribute(node, kCache), kQ8));
        form.has_scales = true;
    }
    return form;
}

/// True if scores, or the sums with the values, depend on a token's own place.
bool reads_start(const AttentionForm& form, bool are_scores) {
    const bool has_distances = form.has_distances || form.has_query_distances || form.has_key_distances;
    return form.part != AttentionPart::kSource || (are_scores && (form.has_slopes || has_distances));
}

/// The scores as an expression of the sums of products.
std::string score_of(const AttentionForm& form) {
    const std::string distance =
        std::string(form.has_slopes ? " + slopes * (s - start[b] - i)" : "") +
        (form.has_distances ? " + distances" : "") +
        (form.chosen != 0 ? fmt::format(" + select(ranks < {}, 0, -inf)", form.chosen) : "");
    const std::string products = std::string("sum(G * K") + (form.has_query_distances ? " + G * DQ" : "") +
                                 (form.has_key_distances ? " + K * DK" : "") + ")";
    if (form.cap == 0) return fmt::format("{} * {}{}", products, form.scale, distance);
    return fmt::format("tanh({} * {} / {}) * {}{}", products, form.scale, form.cap, form.cap, distance);
}

/// `pattern` with {rows}, {sequences}, ... replaced by the extents.
DefinitionPtr define_with(Symbols symbols, const AttentionShape& shape, fmt::string_view pattern,
                          ElementType type = ElementType::kF32, const AttentionForm& form = {}) {
    const std::string where = visible_tokens(form), score = score_of(form);
    // Keys and values of token s: in its slot of the cache, or in what was read from it.
    const std::string page = fmt::format("page i32[b, s div {}] of [{}, {}]", kPageSlots,
                                         text(shape.sequences), shape.table_width);
    const std::string slot = fmt::format("page[b, s div {0}], s mod {0}, g", kPageSlots);
    const auto cache_of = [&](int64_t width) {
        return fmt::format("of [{}, {}, {}, {}]", text(shape.pages), kPageSlots, shape.cache_heads, width);
    };
    const bool is_read = form.has_scales;
    // An entry of a table, by the distance of key s from token i and by the head.
    const std::string row = fmt::format("s - start[b] - i + {}, g * {} + r", (shape.distances - 1) / 2,
                                        shape.heads / shape.cache_heads);
    const auto vectors = [&](bool is_there, const char* operand) {
        if (!is_there) return std::string();
        return fmt::format("in  {} f32[{}, e] of [{}, {}, {}]\n", operand, row, shape.distances, shape.heads,
                           shape.width);
    };
    return define(
        symbols,
        fmt::format(
            fmt::runtime(pattern), fmt::arg("rows", text(shape.rows)),
            fmt::arg("sequences", text(shape.sequences)), fmt::arg("segment", text(shape.segment)),
            fmt::arg("cached", text(shape.cached)), fmt::arg("heads", shape.heads),
            fmt::arg("cache_heads", shape.cache_heads), fmt::arg("group", shape.heads / shape.cache_heads),
            fmt::arg("width", shape.width), fmt::arg("type", name(is_read ? form.rounded : type)),
            fmt::arg("page", page), fmt::arg("slot", slot), fmt::arg("and_page", is_read ? "" : ", " + page),
            fmt::arg("place", is_read ? "b, g, s" : slot),
            fmt::arg("of_keys", is_read ? "" : " " + cache_of(shape.width)),
            fmt::arg("of_values", is_read ? "" : " " + cache_of(shape.stored_value_width)),
            fmt::arg("value_width", shape.value_width), fmt::arg("rounded", name(form.rounded)),
            fmt::arg("start", reads_start(form, false) ? ", start i32[b]" : ""),
            fmt::arg("start_of_scores", reads_start(form, true) ? ", start i32[b]" : ""),
            fmt::arg("split", form.part == AttentionPart::kAll ? "" : ", split i32[b]"),
            fmt::arg("score", score), fmt::arg("where", where),
            fmt::arg("all_weights", form.has_sinks ? "(L + exp(sinks - M))" : "L"),
            fmt::arg("sinks",
                     form.has_sinks
                         ? fmt::format("in  M f32[b, g, r, i]\nin  sinks {}[g * {} + r] of [{}]\n",
                                       name(shape.sinks), shape.heads / shape.cache_heads, shape.heads)
                         : std::string()),
            fmt::arg("slopes", form.has_slopes
                                   ? fmt::format("in  slopes {}[g * {} + r] of [{}]\n", name(shape.slopes),
                                                 shape.heads / shape.cache_heads, shape.heads)
                                   : std::string()),
            fmt::arg("ranks", form.chosen != 0 ? "in  ranks f32[b, i, s]\n" : ""),
            fmt::arg("distances", form.has_distances ? fmt::format("in  distances f32[{}] of [{}, {}]\n", row,
                                                                   shape.distances, shape.heads)
                                                     : std::string()),
            fmt::arg("vectors",
                     vectors(form.has_query_distances, "DQ") + vectors(form.has_key_distances, "DK"))));
}

}  // namespace

Composite attention(const AttentionForm& form, const AttentionSymbols& symbols) {
    Composite composite{.kind = std::string(kAttention),
                        .attributes = {{"scale", form.scale},
                                       {"sequences", symbols.sequences},
                                       {"segment", symbols.segment},
                                       {"cached", symbols.cached}}};
    if (form.rounded != ElementType::kF32) composite.attributes[kRounded] = std::string(name(form.rounded));
    if (form.cap != 0) composite.attributes[kCap] = form.cap;
    if (form.window != 0) composite.attributes[kWindow] = form.window;
    if (form.ahead != 0) composite.attributes[kAhead] = form.ahead;
    if (form.chunk != 0) composite.attributes[kChunk] = form.chunk;
    if (form.has_scales) composite.attributes[kCache] = std::string(kQ8);
    if (form.part != AttentionPart::kAll)
        composite.attributes[kPart] = std::string(form.part == AttentionPart::kSource ? kSource : kTarget);
    if (form.has_slopes) composite.attributes[kSlopes] = int64_t{1};
    if (form.has_sinks) composite.attributes[kSinks] = int64_t{1};
    if (form.has_distances) composite.attributes[kDistances] = int64_t{1};
    if (form.has_query_distances) composite.attributes[kQueryDistances] = int64_t{1};
    if (form.has_key_distances) composite.attributes[kKeyDistances] = int64_t{1};
    if (form.chosen != 0) composite.attributes[kChosen] = form.chosen;
    return composite;
}

std::string visible_tokens(const AttentionForm& form) {
    if (form.part == AttentionPart::kSource) return "i < length[b] and s < split[b]";
    std::string all = "i < length[b]";
    if (form.part == AttentionPart::kTarget) all += " and s >= split[b]";
    if (form.ahead != 0) all += " and s < start[b] + length[b]";
    if (form.ahead == 0) all += " and s <= start[b] + i";
    if (form.ahead > 0) all += fmt::format(" and s <= start[b] + i + {}", form.ahead);
    if (form.window != 0) all += fmt::format(" and s > start[b] + i - {}", form.window);
    if (form.chunk != 0) all += fmt::format(" and s div {0} == (start[b] + i) div {0}", form.chunk);
    return all;
}

ElementType type_of_attended(WeightFormat cache) {
    return cache == WeightFormat::kBF16 || cache == WeightFormat::kQ8_0 ? ElementType::kBF16
                                                                        : ElementType::kF32;
}

DefinitionPtr gather_sequences(Symbols symbols, const AttentionShape& shape, ElementType result) {
    return define_with(
        symbols, shape,
        R"(op gather_sequences(b: {sequences}, g: {cache_heads}, r: {group}, i: {segment}, e: {width})
index first i32[b], length i32[b]
in  Q f32[first[b] + i, g * {group} + r, e] of [{rows}, {heads}, {width}]
out G {type}[b, g, r, i, e] = Q
where i < length[b]
)",
        result);
}

DefinitionPtr read_cache(Symbols symbols, const AttentionShape& shape, int64_t width, int64_t stored_width,
                         const AttentionForm& form) {
    return define_with(
        symbols, shape,
        fmt::format(R"(op read_cache(b: {{sequences}}, g: {{cache_heads}}, s: {{cached}}, e: {width})
index {{page}}
in  q i8[{{slot}}, e] of [{pages}, {slots}, {{cache_heads}}, {stored}]
in  d f16[{{slot}}, e div {block}] of [{pages}, {slots}, {{cache_heads}}, {blocks}]
out C {{rounded}}[b, g, s, e] = q * d
)",
                    fmt::arg("block", kInt8Blocks.block), fmt::arg("pages", text(shape.pages)),
                    fmt::arg("slots", kPageSlots), fmt::arg("width", width), fmt::arg("stored", stored_width),
                    fmt::arg("blocks", stored_width / kInt8Blocks.block)),
        form.rounded, form);
}

DefinitionPtr scores_batch(Symbols symbols, const AttentionShape& shape, ElementType cache,
                           const AttentionForm& form) {
    return define_with(
        symbols, shape,
        R"(op scores_batch(b: {sequences}, g: {cache_heads}, r: {group}, i: {segment}, s: {cached}, e*: {width})
index length i32[b]{start_of_scores}{split}{and_page}
in  G {rounded}[b, g, r, i, e]
in  K {type}[{place}, e]{of_keys}
{slopes}{distances}{vectors}{ranks}out scores f32[b, g, r, i, s] = {score}
where {where}
)",
        cache, form);
}

DefinitionPtr attend_batch(Symbols symbols, const AttentionShape& shape, ElementType cache,
                           const AttentionForm& form) {
    return define_with(
        symbols, shape,
        R"(op attend_batch(b: {sequences}, g: {cache_heads}, r: {group}, i: {segment}, d: {value_width}, s*: {cached})
index length i32[b]{start}{split}{and_page}
in  scores f32[b, g, r, i, s]
in  V {type}[{place}, d]{of_values}
out M f32[b, g, r, i], L f32[b, g, r, i], A f32[b, g, r, i, d] = softmax_sum(scores, V)
where {where}
weights {rounded}
)",
        cache, form);
}

DefinitionPtr scatter_sequences(Symbols symbols, const AttentionShape& shape, ElementType result,
                                bool has_sinks) {
    return define_with(
        symbols, shape,
        R"(op scatter_sequences(b: {sequences}, g: {cache_heads}, r: {group}, i: {segment}, d: {value_width})
index first i32[b], length i32[b]
in  A f32[b, g, r, i, d]
in  L f32[b, g, r, i]
{sinks}out Y {type}[first[b] + i, g * {group} + r, d] of [{rows}, {heads}, {value_width}] = A / {all_weights}
where i < length[b]
)",
        result, {.has_sinks = has_sinks});
}

void decompose_attention(BlockBuilder& block, const Node& node) {
    const Graph& graph = block.graph();
    const std::vector<Dim> q = operand_type(graph, node, 0, 3).shape;
    const TensorType k = operand_type(graph, node, 1, 4);
    const TensorType v = operand_type(graph, node, 2, 4);
    const std::vector<Dim> table = operand_type(graph, node, 6, 2).shape;
    const std::vector<Dim> result = graph[node.results[0]].type.shape;
    if (result.size() != 3)
        throw Error(std::string(kAttention), node.name,
                    fmt::format("has a result of {} axes, expected 3", result.size()));
    const auto constant = [&](const Dim& dim, std::string_view what) {
        if (dim.is_constant()) return dim.factor;
        throw Error(std::string(kAttention), node.name, fmt::format("the {} must be constant", what));
    };
    AttentionShape shape{.rows = q[0],
                         .sequences = text_attribute(node, "sequences"),
                         .segment = text_attribute(node, "segment"),
                         .cached = text_attribute(node, "cached"),
                         .pages = k.shape[0],
                         .table_width = constant(table[1], "width of the page table"),
                         .heads = constant(q[1], "number of heads"),
                         .cache_heads = constant(k.shape[2], "number of cache heads"),
                         .width = constant(q[2], "width of a head"),
                         .value_width = constant(result[2], "width of a result"),
                         .stored_value_width = constant(v.shape[3], "width of a head of values")};
    if (shape.heads % shape.cache_heads != 0)
        throw Error(
            std::string(kAttention), node.name,
            fmt::format("{} heads are no multiple of {} cache heads", shape.heads, shape.cache_heads));

    if (shape.value_width > shape.stored_value_width)
        throw Error(
            std::string(kAttention), node.name,
            fmt::format("gives heads of {} of values of {}", shape.value_width, shape.stored_value_width));
    const ValueId first = node.operands[3], length = node.operands[4], start = node.operands[5];
    const ValueId page = node.operands[6];
    const AttentionForm form = form_of(node);
    constexpr size_t kScales = 6;  // operand distance from keys and values to their scales
    if (form.has_scales) {
        (void)operand_type(graph, node, 1 + kScales, 4);
        (void)operand_type(graph, node, 2 + kScales, 4);
        for (const int64_t width : {shape.width, shape.stored_value_width})
            if (width % kInt8Blocks.block != 0)
                throw Error(std::string(kAttention), node.name,
                            fmt::format("heads of {} are no multiple of the {} of a block", width,
                                        kInt8Blocks.block));
    }
    const ValueId gathered =
        block.add(node.name + "_gather", gather_sequences(graph.symbols, shape, form.rounded),
                  {first, length, node.operands[0]});
    // Operands of the readers of keys or values: the cache by its pages, or what was read from it.
    const auto reading = [&](const char* read, size_t operand, ValueId other) -> std::vector<ValueId> {
        std::vector<ValueId> all = {length};
        if (reads_start(form, operand == 1)) all.push_back(start);
        if (form.part != AttentionPart::kAll)
            all.push_back(node.operands[node.operands.size() - (form.chosen != 0 ? 4 : 1)]);
        if (!form.has_scales) {
            all.insert(all.end(), {page, other, node.operands[operand]});
            return all;
        }
        const int64_t width = operand == 1 ? shape.width : shape.value_width;
        const int64_t stored_width = operand == 1 ? shape.width : shape.stored_value_width;
        const ValueId numbers = block.add(fmt::format("{}_{}", node.name, read),
                                          read_cache(graph.symbols, shape, width, stored_width, form),
                                          {page, node.operands[operand], node.operands[operand + kScales]});
        all.insert(all.end(), {other, numbers});
        return all;
    };
    // Slopes and sinks stand behind all other operands.
    size_t last = form.has_scales ? 3 + kScales : 1 + kScales;
    std::vector<ValueId> scored = reading("keys", 1, gathered);
    if (form.has_slopes) {
        shape.slopes = operand_type(graph, node, last, 1).element;
        scored.push_back(node.operands[last++]);
    }
    size_t table_of_distances = last + (form.has_sinks ? 1 : 0);
    for (const auto& [is_there, axes] :
         {std::pair{form.has_distances, 2}, std::pair{form.has_query_distances, 3},
          std::pair{form.has_key_distances, 3}}) {
        if (!is_there) continue;
        const Dim rows = operand_type(graph, node, table_of_distances, axes).shape[0];
        shape.distances = constant(rows, "number of distances");
        scored.push_back(node.operands[table_of_distances++]);
    }
    if (form.chosen != 0) {
        const size_t operand = node.operands.size() - 3;
        const std::vector<Dim> queries = operand_type(graph, node, operand, 3).shape;
        const TensorType keys = operand_type(graph, node, operand + 2, 4);
        shape.index_heads = constant(queries[1], "number of heads of the index");
        shape.index_width = constant(queries[2], "width of the index");
        const ValueId products =
            block.add(node.name + "_index_products", index_products(graph.symbols, shape, keys.element, form),
                      {first, length, start, page, node.operands[operand], node.operands[operand + 2]});
        const ValueId totals =
            block.add(node.name + "_index_scores", index_scores(graph.symbols, shape, form),
                      {first, length, start, node.operands[operand + 1], products});
        scored.push_back(block.add(node.name + "_index_ranks", index_ranks(graph.symbols, shape, form),
                                   {length, start, totals, totals}));
    }
    const ValueId scores = block.add(node.name + "_scores",
                                     scores_batch(graph.symbols, shape, k.element, form), std::move(scored));
    const std::vector<ValueId> sums =
        block.add_all(node.name + "_attend", attend_batch(graph.symbols, shape, v.element, form),
                      reading("values", 2, scores));
    std::vector<ValueId> scattered = {first, length, sums[2], sums[1]};
    if (form.has_sinks) {
        shape.sinks = operand_type(graph, node, last, 1).element;
        scattered.insert(scattered.end(), {sums[0], node.operands[last]});
    }
    block.add_into(
        node.name + "_scatter",
        scatter_sequences(graph.symbols, shape, graph[node.results[0]].type.element, form.has_sinks),
        std::move(scattered), node.results[0]);
}

}  // namespace tessera::ops
