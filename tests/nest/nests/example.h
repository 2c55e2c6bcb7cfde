#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "nest/nests/kernel.h"
#include "nest/nests/nest_facts.h"

namespace tessera::nests {

/// Two products, E = (A B) D.
inline constexpr std::string_view kProducts = R"(op c(m: 20, n: 18, k*: 6)
in  A f32[m, k], B f32[k, n]
out C f32[m, n] = sum(A * B)
op e(m: 20, h: 8, n*: 18)
in  C f32[m, n], D f32[n, h]
out E f32[m, h] = sum(C * D)
)";

inline Kernel kernel_of(std::string_view operators) {
    return make_kernel(read_kernel_file(operators, "t.nest"));
}

/// The reason for which the nest is refused; empty if it is legal.
inline std::string refusal(const Kernel& kernel, std::string_view nest,
                           const std::vector<std::string>& visible = {}) {
    const auto illegal = why_illegal(kernel, nest, visible);
    return illegal ? std::string(name(illegal->kind)) + ": " + illegal->reason : "";
}

/// @pre the nest is legal
inline NestFacts facts_of_nest(const Kernel& kernel, std::string_view nest,
                               const std::vector<std::string>& visible = {}) {
    return std::get<NestFacts>(derive_facts(kernel, std::get<Nest>(parse_nest(kernel, nest, visible))));
}

}  // namespace tessera::nests
