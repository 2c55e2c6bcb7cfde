#include "ir/ops/reshape.h"

#include <fmt/core.h>

namespace tessera::ops {

DefinitionPtr split_heads(Symbols symbols, const Dim& rows, int64_t heads, int64_t width, ElementType type) {
    return define(symbols, fmt::format(R"(op split_heads(t: {0}, h: {1}, e: {2})
in  X {4}[t, h * {2} + e] of [{0}, {3}]
out Y {4}[t, h, e] = X
)",
                                       text(rows), heads, width, heads * width, name(type)));
}

DefinitionPtr merge_heads(Symbols symbols, const Dim& rows, int64_t heads, int64_t width, ElementType type) {
    return define(symbols, fmt::format(R"(op merge_heads(t: {0}, n: {3})
in  X {4}[t, n div {2}, n mod {2}] of [{0}, {1}, {2}]
out Y {4}[t, n] = X
)",
                                       text(rows), heads, width, heads * width, name(type)));
}

}  // namespace tessera::ops
