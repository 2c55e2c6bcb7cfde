#include "ir/ops/cache_update.h"

#include <fmt/core.h>

namespace tessera::ops {

DefinitionPtr cache_update(Symbols symbols, const Dim& rows, const Dim& pages, int64_t heads, int64_t width,
                           ElementType cache, ElementType given) {
    return define(
        symbols, fmt::format(R"(op cache_update(t: {rows}, h: {heads}, d: {width})
index slot i32[t]
in  X {given}[t, h, d]
update C {type}[slot[t] div {page}, slot[t] mod {page}, h, d] of [{pages}, {page}, {heads}, {width}] = X
)",
                             fmt::arg("rows", text(rows)), fmt::arg("heads", heads), fmt::arg("width", width),
                             fmt::arg("type", name(cache)), fmt::arg("given", name(given)),
                             fmt::arg("page", kPageSlots), fmt::arg("pages", text(pages))));
}

}  // namespace tessera::ops
