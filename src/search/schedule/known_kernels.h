#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "search/schedule/solve_tiles.h"

namespace tessera::schedule {

/// Kernels that were solved, by kind (same_kernels.h): the blocks of a specialisation, which repeat layers,
/// and the searches of one block share them. What it costs depends on its kind alone; which of equal
/// solutions it is, on who asks first.
struct KnownKernels {
    struct Known {
        /// Its operators and leaves are numbered by their places, in the kernel and among the leaves of the
        /// operator; a leaf of -1 is the plain one. Nothing: the kernel is illegal.
        std::optional<SolvedKernel> kernel;
        int64_t work = 0;  ///< choices of tiles that were evaluated for it
    };
    std::map<std::string, Known> kernels;
    std::map<std::string, int> operator_kinds;  ///< numbers of operators of a kind
};

}  // namespace tessera::schedule
