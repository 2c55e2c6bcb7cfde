#pragma once

#include <string>
#include <vector>

#include "nest/nests/kernel.h"
#include "nest/nests/kernel_file.h"
#include "nest/nests/level_facts.h"
#include "nest/nests/nest.h"

namespace tessera::nests {

/// A placement whose level is to be chosen.
struct OpenMove {
    MoveKind kind = MoveKind::kLoad;
    std::string tensor;
    std::vector<std::string> levels;  ///< to choose from; "": it is left out
};
/// A nest in which sizes and levels are open.
using OpenNest = nest::Nest<std::string, nest::WrittenOperator, OpenMove>;

/// Operators, a machine with levels, and a set of nests of which the cheapest is wanted.
struct OpenProblem {
    Kernel kernel;
    LevelMachine machine;
    LevelCost cost = LevelCost::kSerial;
    SizeDomain sizes;
    std::vector<OpenNest> structures;
};

/// Reads a `.tiers` file: the nest that it writes, or with `reorder` all nests that merging operators into
/// their readers at some level, and ordering the loops of the levels that it names, can reach (paper
/// 000, 3.2.1).
/// @throws Error for what is none, and beyond `kMostStructures`
OpenProblem make_problem(const KernelFile& file);
inline constexpr size_t kMostStructures = 100'000;

/// All nests that merge and reorder reach. @throws Error as make_problem
std::vector<OpenNest> merged_structures(const Kernel& kernel, const LevelMachine& machine,
                                        const std::vector<std::string>& reordered);

}  // namespace tessera::nests
