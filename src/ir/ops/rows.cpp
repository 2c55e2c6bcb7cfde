#include "ir/ops/rows.h"

#include <fmt/core.h>

namespace tessera::ops {

DefinitionPtr embedding(Symbols symbols, const Dim& rows, int64_t vocabulary, int64_t width,
                        WeightFormat table, double scale) {
    const WeightText e = weight_text(table, "E", "id[t]", "k", width, vocabulary);
    return define(symbols, fmt::format(R"(op embedding(t: {rows}, k: {width})
index id i32[t]
{weight}out Y f32[t, k] = {value}{scale}
)",
                                       fmt::arg("rows", text(rows)), fmt::arg("width", width),
                                       fmt::arg("weight", e.operands), fmt::arg("value", e.value),
                                       fmt::arg("scale", scale == 1 ? "" : fmt::format(" * {}", scale))));
}

DefinitionPtr known_ids(Symbols symbols, const Dim& rows, int64_t count) {
    return define(symbols, fmt::format(R"(op known_ids(t: {0})
index id i32[t]
out Y i32[t] = select(id[t] < {1}, id[t], 0)
)",
                                       text(rows), count));
}

DefinitionPtr add_positions(Symbols symbols, const Dim& rows, int64_t positions, int64_t width,
                            WeightFormat table, int64_t first) {
    const std::string row = first == 0 ? "position[t]" : fmt::format("position[t] + {}", first);
    const WeightText e = weight_text(table, "E", row, "k", width, positions);
    return define(symbols, fmt::format(R"(op add_positions(t: {rows}, k: {width})
index position i32[t]
in  X f32[t, k]
{weight}out Y f32[t, k] = X + {value}
)",
                                       fmt::arg("rows", text(rows)), fmt::arg("width", width),
                                       fmt::arg("weight", e.operands), fmt::arg("value", e.value)));
}

DefinitionPtr select_rows(Symbols symbols, const Dim& chosen, const Dim& rows, int64_t width) {
    return define(symbols, fmt::format(R"(op select_rows(r: {chosen}, d: {width})
index row i32[r]
in  X f32[row[r], d] of [{rows}, {width}]
out Y f32[r, d] = X
)",
                                       fmt::arg("chosen", text(chosen)), fmt::arg("rows", text(rows)),
                                       fmt::arg("width", width)));
}

}  // namespace tessera::ops
