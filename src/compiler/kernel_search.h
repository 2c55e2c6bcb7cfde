#pragma once

#include <string>
#include <vector>

#include "compiler/search_parts.h"
#include "run/runtime/artefact.h"
#include "search/schedule/search.h"

namespace tessera::compiler {

/// The search for the kernels of a block in one specialisation.
struct BlockSearchAccount {
    std::string specialisation, block;
    schedule::Schedule schedule;
};

struct KernelSearch {
    std::vector<BlockSearchAccount> blocks;  ///< of all specialisations
    bool is_measured = false;                ///< the machine; else times are of roofs (cost/typical_rates.h)
    bool found_plan = false;                 ///< it ended with the plan of the artefact
    SearchParts parts = {};                  ///< of the search
};

/// Searches again for layouts and kernels of an artefact's graph, for as many workers as its plan has: with
/// the machine and effort that it was compiled for the same search, unless kernels or costs were stated.
/// Parts that its compilation left out are left out again.
/// @pre effort > 0
KernelSearch repeat_kernel_search(const runtime::Artefact& artefact, const machine::Machine& machine,
                                  int64_t effort);

}  // namespace tessera::compiler
