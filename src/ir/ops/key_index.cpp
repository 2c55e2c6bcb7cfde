#include "ir/ops/key_index.h"

#include <cctype>

#include <fmt/core.h>

#include "ir/ops/cache_update.h"

namespace tessera::ops {
namespace {

/// The same predicate for the token z in place of s.
std::string of_other(const std::string& where) {
    std::string other;
    const auto is_part = [&](size_t at) {
        return at < where.size() &&
               (std::isalnum(static_cast<unsigned char>(where[at])) != 0 || where[at] == '_');
    };
    for (size_t i = 0; i < where.size(); ++i) {
        const bool is_token = where[i] == 's' && !is_part(i + 1) && (i == 0 || !is_part(i - 1));
        other += is_token ? 'z' : where[i];
    }
    return other;
}

DefinitionPtr define_index(Symbols symbols, const AttentionShape& shape, const AttentionForm& form,
                           fmt::string_view pattern, ElementType cache = ElementType::kF32) {
    const std::string where = visible_tokens(form);
    return define(
        symbols,
        fmt::format(fmt::runtime(pattern), fmt::arg("rows", text(shape.rows)),
                    fmt::arg("sequences", text(shape.sequences)), fmt::arg("segment", text(shape.segment)),
                    fmt::arg("cached", text(shape.cached)), fmt::arg("pages", text(shape.pages)),
                    fmt::arg("slots", kPageSlots), fmt::arg("table", shape.table_width),
                    fmt::arg("heads", shape.index_heads), fmt::arg("width", shape.index_width),
                    fmt::arg("type", name(cache)), fmt::arg("where", where),
                    fmt::arg("where_both", where + " and " + of_other(where))));
}

}  // namespace

DefinitionPtr index_products(Symbols symbols, const AttentionShape& shape, ElementType cache,
                             const AttentionForm& form) {
    return define_index(
        symbols, shape, form,
        R"(op index_products(b: {sequences}, r: {heads}, i: {segment}, s: {cached}, e*: {width})
index first i32[b], length i32[b], start i32[b], page i32[b, s div {slots}] of [{sequences}, {table}]
in  Q f32[first[b] + i, r, e] of [{rows}, {heads}, {width}]
in  K {type}[page[b, s div {slots}], s mod {slots}, 0, e] of [{pages}, {slots}, 1, {width}]
out products f32[b, r, i, s] = max(sum(Q * K), 0)
where {where}
)",
        cache);
}

DefinitionPtr index_scores(Symbols symbols, const AttentionShape& shape, const AttentionForm& form) {
    return define_index(symbols, shape, form,
                        R"(op index_scores(b: {sequences}, i: {segment}, s: {cached}, r*: {heads})
index first i32[b], length i32[b], start i32[b]
in  W f32[first[b] + i, r] of [{rows}, {heads}]
in  products f32[b, r, i, s]
out total f32[b, i, s] = sum(W * products)
where {where}
)");
}

DefinitionPtr index_ranks(Symbols symbols, const AttentionShape& shape, const AttentionForm& form) {
    return define_index(symbols, shape, form,
                        R"(op index_ranks(b: {sequences}, i: {segment}, s: {cached}, z*: {cached})
index length i32[b], start i32[b]
in  X f32[b, i, z]
in  Z f32[b, i, s]
out ranks f32[b, i, s] = sum(select(X > Z or X == Z and z < s, 1, 0))
where {where_both}
)");
}

}  // namespace tessera::ops
