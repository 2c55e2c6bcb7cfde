#include "ops/rope.h"

#include <fmt/core.h>

#include "support/error.h"

namespace tessera::ops {

DefinitionPtr rope(Symbols symbols, const RopeShape& shape, RopeForm form) {
    TESSERA_CHECK(shape.width % 2 == 0, "width {}", shape.width);
    const int64_t half = shape.width / 2;
    const bool halves = form == RopeForm::kHalves;
    const std::string pair = halves ? fmt::format("d mod {}", half) : "d div 2";
    const std::string is_first = halves ? fmt::format("d < {}", half) : "d mod 2 == 0";
    const std::string partner =
        halves ? fmt::format("(d + {}) mod {}", half, shape.width) : "d div 2 * 2 + 1 - d mod 2";
    return define(symbols, fmt::format(R"(op {name}(t: {rows}, h: {heads}, d: {width})
index position i32[t]
in  X f32[t, h, d]
in  cos f32[position[t], {pair}] of [{positions}, {half}]
in  sin f32[position[t], {pair}] of [{positions}, {half}]
out Y f32[t, h, d] = X * cos + select({is_first}, -1, 1) * X[t, h, {partner}] * sin
)",
                                       fmt::arg("name", halves ? "rope_halves" : "rope_pairs"),
                                       fmt::arg("rows", text(shape.rows)), fmt::arg("heads", shape.heads),
                                       fmt::arg("width", shape.width), fmt::arg("positions", shape.positions),
                                       fmt::arg("half", half), fmt::arg("pair", pair),
                                       fmt::arg("is_first", is_first), fmt::arg("partner", partner)));
}

}  // namespace tessera::ops
