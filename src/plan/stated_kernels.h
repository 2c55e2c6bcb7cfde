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

/// An entry of such a file, of which the nest was not read yet.
struct StatedText {
    std::string where;  ///< "FILE:LINE"
    std::string specialisation;
    std::string nest;
};

/// @throws Error with the line if the file is no TOML of `[[kernel]]`
std::vector<StatedText> read_stated_texts(std::string_view text, const std::string& where);

/// @param loads those of the entries before it; the kernel's are appended
/// @throws Error with the line if the nest is none
StatedKernel parse_stated_kernel(const StatedText& stated, MicroKernels kernels, std::vector<Load>& loads);

/// A TOML file of `[[kernel]]` with `nest = "t:? { norm; product }"` and perhaps `specialisation =
/// "prefill"`.
/// @throws Error with the line if it is not that
std::vector<StatedKernel> parse_stated_kernels(std::string_view text, const std::string& where,
                                               MicroKernels kernels);

}  // namespace tessera::plan
