#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lowering/plan/nest.h"

namespace tessera::plan {

/// A kernel that a person states; the search keeps it and finds the others around it.
template <typename AnyNest>
struct Stated {
    std::string where;           ///< "FILE:LINE", for refusals
    std::string specialisation;  ///< empty: all
    AnyNest nest;                ///< perhaps with open tiles and micro-kernels, never with `@worker`
};
using StatedKernel = Stated<Nest>;
/// The same as it is written, whose copies no graph has yet (search/planner/loads.h).
using StatedWithLoads = Stated<NestWithLoads>;

/// An entry of such a file, of which the nest was not read yet.
struct StatedText {
    std::string where;  ///< "FILE:LINE"
    std::string specialisation;
    std::string nest;
};

/// @throws Error with the line if the file is no TOML of `[[kernel]]`
std::vector<StatedText> read_stated_texts(std::string_view text, const std::string& where);

/// @param loads how many the entries before it have; the kernel's are added
/// @throws Error with the line if the nest is none
StatedWithLoads parse_stated_kernel(const StatedText& stated, MicroKernels kernels, int64_t& loads);

/// A TOML file of `[[kernel]]` with `nest = "t:? { norm; product }"` and perhaps `specialisation =
/// "prefill"`.
/// @throws Error with the line if it is not that
std::vector<StatedWithLoads> parse_stated_kernels(std::string_view text, const std::string& where,
                                                  MicroKernels kernels);

}  // namespace tessera::plan
