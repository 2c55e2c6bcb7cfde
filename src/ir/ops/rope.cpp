#include "ir/ops/rope.h"

#include <fmt/core.h>

#include "support/error.h"

namespace tessera::ops {

DefinitionPtr rope(Symbols symbols, const RopeShape& shape, RopeForm form) {
    const int64_t rotated = shape.rotated == 0 ? shape.width : shape.rotated;
    TESSERA_CHECK(rotated % 2 == 0 && rotated <= shape.width, "{} of {}", rotated, shape.width);
    const int64_t half = rotated / 2;
    const bool halves = form == RopeForm::kHalves, is_whole = rotated == shape.width;
    // Elements behind the rotated ones read what is there for others, and drop it.
    std::string pair = halves ? fmt::format("d mod {}", half) : "d div 2";
    const std::string is_first = halves ? fmt::format("d < {}", half) : "d mod 2 == 0";
    std::string partner =
        halves ? fmt::format("(d + {}) mod {}", half, rotated) : "d div 2 * 2 + 1 - d mod 2";
    if (!halves && !is_whole)
        pair += fmt::format(" mod {}", half), partner = fmt::format("({}) mod {}", partner, rotated);
    const std::string turned = fmt::format("X * cos + select({}, {}) * X[t, h, {}] * sin", is_first,
                                           shape.is_backward ? "1, -1" : "-1, 1", partner);
    const std::string result = is_whole ? turned : fmt::format("select(d < {}, {}, X)", rotated, turned);
    return define(symbols, fmt::format(R"(op {name}(t: {rows}, h: {heads}, d: {width})
index position i32[t]
in  X f32[t, h, d]
in  cos f32[position[t], {pair}] of [{positions}, {half}]
in  sin f32[position[t], {pair}] of [{positions}, {half}]
out Y f32[t, h, d] = {result}
)",
                                       fmt::arg("name", halves ? "rope_halves" : "rope_pairs"),
                                       fmt::arg("result", result), fmt::arg("rows", text(shape.rows)),
                                       fmt::arg("heads", shape.heads), fmt::arg("width", shape.width),
                                       fmt::arg("positions", shape.positions), fmt::arg("half", half),
                                       fmt::arg("pair", pair)));
}

}  // namespace tessera::ops
