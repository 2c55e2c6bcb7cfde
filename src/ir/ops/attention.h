#pragma once

#include "ir/ops/composite.h"
#include "ir/ops/define.h"
#include "ir/ops/weight_format.h"

/// Causal grouped-query attention of a mixed batch over a paged cache, to which the new keys and values have
/// been written already. Tokens of one sequence are consecutive rows: sequence b has rows first[b] ..
/// first[b] + length[b], behind start[b] tokens that were cached before; token s of the sequence is in slot s
/// mod 16 of page page[b, s div 16]. Head g * group + r reads cache head g. Source: Vaswani et al., 2017, eq.
/// 1; Ainslie et al., "GQA", 2023; the streaming softmax of Milakov and Gimelshein, 2018.
namespace tessera::ops {

inline constexpr std::string_view kAttention = "attention";

/// Symbols of the step that only attention uses.
struct AttentionSymbols {
    std::string sequences = "B";
    std::string segment = "I";  ///< the longest `length`
    std::string cached = "S";   ///< of the longest sequence, new tokens included
};

/// `ahead` means: a text is one step, whose tokens see one another, as in an encoder.
inline constexpr int64_t kWhole = -1;

/// The part of a sequence whose keys count, where it is a source text and the one that is made of it.
enum class AttentionPart : uint8_t {
    kAll,
    kSource,  ///< all of the first split[b] tokens, wherever the query stands
    kTarget,  ///< those behind them, as far as `AttentionForm` says
};

/// The tokens that a token sees, and the computation of the scores.
struct AttentionForm {
    AttentionPart part = AttentionPart::kAll;
    double scale = 1;
    /// f32 or bf16: the type to which the factors of the cache, queries and weights of the softmax, are
    /// rounded.
    ElementType rounded = ElementType::kF32;
    double cap = 0;  ///< scores become cap tanh(score / cap); 0: they stay. Source: Gemma 2, 2024, section 2
    int64_t window = 0;  ///< a token sees so many tokens, itself included; 0: all before it
    int64_t ahead = 0;   ///< and so many behind it, as far as this step has them; `kWhole`: all of these
    int64_t chunk = 0;   ///< and only those of its own so many places; 0: all
    /// The cache holds bytes in blocks of 32 along a head, with a scale each, as in Q8_0.
    bool has_scales = false;
    /// A score gains slope[h] (s - its own token's place): a penalty of the distance. Source: Press et al.,
    /// "Train Short, Test Long" (ALiBi), 2022, section 3.
    bool has_slopes = false;
    /// A score gains a number of its head by the distance: row s - its own token's place + positions - 1 of
    /// f32[2 positions - 1, heads]. Source: Raffel et al. (T5), 2020, section 2.1.
    bool has_distances = false;
    /// Scores gain, before their scale, the product of the query, or of the key, with a vector of its head by
    /// the distance: the same rows of f32[2 positions - 1, heads, width]. Source: He et al. (DeBERTa), 2021,
    /// section 3.1.
    bool has_query_distances = false, has_key_distances = false;
    /// Only so many keys count, those with the highest scores of an index of its own: the sum over its heads,
    /// each with a weight of the token, of max(q k, 0); of equal ones the first. 0: all. Source:
    /// DeepSeek-V3.2, 2025, section 2.1.
    int64_t chosen = 0;
    /// The softmax has one more score for each head, with no value: a share of the weights that goes nowhere.
    /// Source: Xiao et al., "Efficient Streaming Language Models with Attention Sinks", 2024, section 3.3.
    bool has_sinks = false;
};

/// The composite: softmax(scale Q K^T) V. Operands, in this order: Q f32[rows, heads, width], K and V of the
/// cache [pages, 16, cache heads, width], where the heads of V may have a width of their own and may be wider
/// than those of the result, which are then the first elements of each: V may be K; first, length,
/// start i32[sequences], page i32[sequences, pages of the longest context]; and with scales those of K and V,
/// f16[pages, 16, cache heads, width / 32]: then all of `page` names pages, also where a sequence has none;
/// then slopes and sinks, floats [heads], and distances, those of queries and those of keys, if there are
/// any, and with a part split i32[sequences]; and with an index at the end its queries f32[rows, heads of the
/// index, width of the index], their weights f32[rows, heads of the index] and keys [pages, 16, 1, width of
/// the index]. Result: [rows, heads, width of V] of a float type; rows that belong to no sequence are 0.
Composite attention(const AttentionForm& form, const AttentionSymbols& symbols = {});

/// The predicate for the cached tokens s that token i of sequence b sees.
std::string visible_tokens(const AttentionForm& form);

/// `rounded` where the policy allows it: bf16 of a cache of bf16, which units multiply in pairs, and of bytes
/// with scales; else f32.
ElementType type_of_attended(WeightFormat cache);

/// Extents of all parts of the decomposition.
struct AttentionShape {
    Dim rows, sequences, segment, cached, pages;
    int64_t table_width;  ///< second extent of `page`
    int64_t heads, cache_heads, width;
    int64_t value_width;
    int64_t stored_value_width;  ///< of which the first `value_width` count
    int64_t distances = 1;       ///< rows of their table
    int64_t index_heads = 1, index_width = 1;
    ElementType slopes = ElementType::kF32, sinks = ElementType::kF32;
};

/// G[b, g, r, i, e] = Q[first[b] + i, g * group + r, e]: one sequence after the other, so that packs and
/// units survive in a mixed batch, and the heads that share a cache head side by side. Operands: first,
/// length, Q. Result: [sequences, cache heads, group, segment, width] of type `result`.
DefinitionPtr gather_sequences(Symbols symbols, const AttentionShape& shape,
                               ElementType result = ElementType::kF32);
/// With scales: C[b, g, s, e] = q[page[b, s div 16], s mod 16, g, e] d[.., e div 32]. Operands: page, q, d.
/// Result: [sequences, cache heads, cached, width] of type `rounded`, which scores and sums read in place of
/// the cache. It holds every slot of the named pages, seen or not: testing that took longer.
/// `width`: of `stored_width` numbers.
DefinitionPtr read_cache(Symbols symbols, const AttentionShape& shape, int64_t width, int64_t stored_width,
                         const AttentionForm& form);
/// scale sum over e of G[b, g, r, i, e] K[page[b, s div 16], s mod 16, g, e], below the cap, and with slopes
/// less by the distance. Operands: length, start, page, G of type `rounded`, K, slopes, distances, those of
/// queries and of keys, ranks of the index. Result:
/// f32[sequences, cache heads, group, segment, cached].
DefinitionPtr scores_batch(Symbols symbols, const AttentionShape& shape, ElementType cache,
                           const AttentionForm& form);
/// Streaming softmax of the scores over s, with the values; weights of type `rounded`. Operands: length,
/// start, page, scores, V. Results: M, L f32[sequences, cache heads, group, segment], A the same with [..,
/// width].
DefinitionPtr attend_batch(Symbols symbols, const AttentionShape& shape, ElementType cache,
                           const AttentionForm& form);
/// Y[first[b] + i, g * group + r, d] = A / L. Operands: first, length, A, L, and with sinks M and the sinks.
/// Result: [rows, heads, width] of type `result`.
DefinitionPtr scatter_sequences(Symbols symbols, const AttentionShape& shape,
                                ElementType result = ElementType::kF32, bool has_sinks = false);

inline constexpr const char* kAttentionExample = R"(graph "attention"
symbol T in 2..4
symbol B in 1..1
symbol I in 1..4
symbol S in 16..32 multiple of 16
symbol P in 2..4
input q: f32[T, 4, 8]
input k: f16[P, 16, 2, 8]
input v: f16[P, 16, 2, 8]
input first: i32[B]
input length: i32[B]
input start: i32[B]
input page: i32[B, 2]
value y: f32[T, 4, 8]
block body
  node y(q, k, v, first, length, start, page) -> y
    composite attention: cached = "S", scale = 0.25, segment = "I", sequences = "B"
output y
)";

void decompose_attention(BlockBuilder& block, const Node& node);

}  // namespace tessera::ops
