#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "machine/machine.h"

namespace tessera::machine {

/// Features in the spelling of Linux, "avx512_bf16": what /proc/cpuinfo lists in its line `flags` (x86) or
/// `Features` (AArch64) of the first core. The kernel lists only what it also saves at a context switch.
/// Empty without the line.
std::set<std::string> parse_cpuinfo(std::string_view cpuinfo);

/// The compiler's flags for the features of the set that code for this ISA gains from, in a fixed order.
std::vector<std::string> feature_flags(Isa, const std::set<std::string>& features);

/// The features that `flags` let the compiler use and that are not in the set: code made with these flags
/// would end in an illegal instruction. In the order of the flags; a flag that names no known feature counts
/// as missing.
std::vector<std::string> missing_features(Isa, const std::vector<std::string>& flags,
                                          const std::set<std::string>& features);

/// The compute units that these features make, widest vector unit only.
std::vector<ComputeUnit> feature_units(Isa, const std::set<std::string>& features);

}  // namespace tessera::machine
