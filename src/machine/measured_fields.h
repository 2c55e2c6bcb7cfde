#pragma once

#include <vector>

#include "machine/machine.h"
#include "machine/toml_fields.h"

namespace tessera::machine {

/// The measured fields of one table, each empty where the table has none. Rates and times are finite and
/// positive, entries distinct and in the order in which they are printed, levels those of the machine.
/// @throws Error with the line and the field
std::vector<ReadBandwidth> read_bandwidths(TomlFields& level);
std::vector<UnitPeak> read_peaks(TomlFields& unit, const std::vector<std::string>& memory);
std::vector<BarrierCost> read_barriers(TomlFields& machine);
std::vector<RankLink> read_rank_links(TomlFields& machine);
std::vector<MicroKernelTime> read_micro_kernels(TomlFields& machine, const std::vector<std::string>& memory);

}  // namespace tessera::machine
