#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/nest.h"

namespace tessera::plan {

/// A kernel that a person states; the search keeps it and finds the others around it.
struct StatedKernel {
    std::string where;             ///< "FILE:LINE", for refusals
    std::string specialisation;    ///< empty: all
    Nest nest;                     ///< perhaps with open tiles and micro-kernels, never with `@worker`
    std::vector<Load> loads = {};  ///< of the nest, which no graph has yet (planner/loads.h)
};

/// A TOML file of `[[kernel]]` with `nest = "t:? { norm; product }"` and perhaps `specialisation =
/// "prefill"`.
/// @throws Error with the line if it is not that
std::vector<StatedKernel> parse_stated_kernels(std::string_view text, const std::string& where,
                                               MicroKernels kernels);

}  // namespace tessera::plan
