#include "ir/ops/elementwise.h"

#include <fmt/core.h>

#include "support/error.h"

namespace tessera::ops {
namespace {

/// log(1 + u) of 0 < u <= 1. Where u is small the sum has lost most of its digits: there it is the series of
/// 2 artanh(u / (2 + u)), whose next term is below 1e-11 of the whole.
std::string log_of_one_and(const std::string& u) {
    const std::string z = fmt::format("({0} / (2 + {0}))", u);
    return fmt::format(
        "select({0} < 0.1, 2 * {1} * (1 + {1} * {1} * (1.0 / 3 + {1} * {1} * (0.2 + {1} * {1} / 7))), "
        "log(1 + {0}))",
        u, z);
}

}  // namespace

std::string applied(ActivationFunction f, std::string_view x) {
    switch (f) {
        case ActivationFunction::kSilu:
            return fmt::format("{0} * sigmoid({0})", x);
        case ActivationFunction::kGelu:
            return fmt::format("{0} * 0.5 * (1 + erf({0} * 0.7071067811865476))", x);
        case ActivationFunction::kGeluTanh:
            return fmt::format(
                "{0} * 0.5 * (1 + tanh(0.7978845608028654 * ({0} + 0.044715 * {0} * {0} * {0})))", x);
        case ActivationFunction::kRelu:
            return fmt::format("max({}, 0)", x);
        case ActivationFunction::kSquaredRelu:
            return fmt::format("max({0}, 0) * max({0}, 0)", x);
        case ActivationFunction::kSoftplus:  // the exponent is never positive
            return fmt::format("(max({}, 0) + {})", x, log_of_one_and(fmt::format("exp(-abs({}))", x)));
        case ActivationFunction::kQuickGelu:
            return fmt::format("{0} * sigmoid(1.702 * {0})", x);
    }
    TESSERA_CHECK(false, "activation function {}", static_cast<int>(f));
}

DefinitionPtr add(Symbols symbols, const Dim& rows, int64_t width) {
    return define(symbols, fmt::format(R"(op add(t: {}, d: {})
in  A f32[t, d]
in  X f32[t, d]
out Y f32[t, d] = A + X
)",
                                       text(rows), width));
}

DefinitionPtr gated(ActivationFunction f, Symbols symbols, const Dim& rows, int64_t width,
                    ElementType result) {
    return define(symbols, fmt::format(R"(op {}(t: {}, f: {})
in  G f32[t, f]
in  U f32[t, f]
out Y {}[t, f] = {} * U
)",
                                       f == ActivationFunction::kSilu ? "swiglu" : "gated", text(rows), width,
                                       name(result), applied(f, "G")));
}

DefinitionPtr swiglu(Symbols symbols, const Dim& rows, int64_t width, ElementType result) {
    return gated(ActivationFunction::kSilu, symbols, rows, width, result);
}

DefinitionPtr activated(ActivationFunction f, Symbols symbols, const Dim& rows, int64_t width,
                        ElementType result) {
    return define(symbols, fmt::format(R"(op activated(t: {}, f: {})
in  X f32[t, f]
out Y {}[t, f] = {}
)",
                                       text(rows), width, name(result), applied(f, "X")));
}

DefinitionPtr soft_cap(Symbols symbols, const Dim& rows, int64_t width, double cap) {
    return define(symbols, fmt::format(R"(op soft_cap(t: {0}, d: {1})
in  X f32[t, d]
out Y f32[t, d] = tanh(X / {2}) * {2}
)",
                                       text(rows), width, cap));
}

DefinitionPtr rounded_to(Symbols symbols, const Dim& rows, int64_t width, ElementType result) {
    return define(symbols, fmt::format(R"(op rounded(t: {}, d: {})
in  X f32[t, d]
out Y {}[t, d] = X
)",
                                       text(rows), width, name(result)));
}

}  // namespace tessera::ops
