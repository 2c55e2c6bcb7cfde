#include "ops/elementwise.h"

#include <fmt/core.h>

namespace tessera::ops {

DefinitionPtr add(Symbols symbols, const Dim& rows, int64_t width) {
    return define(symbols, fmt::format(R"(op add(t: {}, d: {})
in  A f32[t, d]
in  X f32[t, d]
out Y f32[t, d] = A + X
)",
                                       text(rows), width));
}

DefinitionPtr swiglu(Symbols symbols, const Dim& rows, int64_t width, ElementType result) {
    return define(symbols, fmt::format(R"(op swiglu(t: {}, f: {})
in  G f32[t, f]
in  U f32[t, f]
out Y {}[t, f] = G * sigmoid(G) * U
)",
                                       text(rows), width, name(result)));
}

}  // namespace tessera::ops
