#pragma once

#include <string>
#include <string_view>

#include "ir/ops/define.h"

/// Maps of operands of one shape, f32[rows, width].
namespace tessera::ops {

/// Y = A + B: the residual connection.
DefinitionPtr add(Symbols symbols, const Dim& rows, int64_t width);

/// Activation functions of a feed-forward, by their usual names.
enum class ActivationFunction : uint8_t {
    kSilu,      ///< x sigmoid(x)
    kGelu,      ///< x / 2 (1 + erf(x / sqrt(2)))
    kGeluTanh,  ///< its approximation by tanh. Source: Hendrycks and Gimpel, "Gaussian Error Linear Units",
                ///< 2016
    kRelu,      ///< max(x, 0)
    kSquaredRelu,  ///< its square. Source: So et al., "Primer", 2021
    kSoftplus,     ///< log(1 + exp(x))
    kQuickGelu,    ///< x sigmoid(1.702 x). Source: Hendrycks and Gimpel, section 2
};

/// f(x) as the text of a body; `x` is a name.
std::string applied(ActivationFunction f, std::string_view x);

/// Y = f(G) U. Operands: gate G, U. Result: of type `result`.
/// Source: Shazeer, "GLU Variants Improve Transformer", 2020, eq. 6.
DefinitionPtr gated(ActivationFunction f, Symbols symbols, const Dim& rows, int64_t width,
                    ElementType result = ElementType::kF32);
/// `gated` with kSilu: SwiGLU.
DefinitionPtr swiglu(Symbols symbols, const Dim& rows, int64_t width, ElementType result = ElementType::kF32);
/// Y = f(X), of type `result`.
DefinitionPtr activated(ActivationFunction f, Symbols symbols, const Dim& rows, int64_t width,
                        ElementType result = ElementType::kF32);

/// Y = cap tanh(X / cap).
DefinitionPtr soft_cap(Symbols symbols, const Dim& rows, int64_t width, double cap);

/// Y = X in a narrower type.
DefinitionPtr rounded_to(Symbols symbols, const Dim& rows, int64_t width, ElementType result);

}  // namespace tessera::ops
