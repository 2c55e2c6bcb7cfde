#pragma once

#include <string>

#include "cli/verb.h"
#include "machine/machine.h"

/// Measurements between ranks: of `tessera machine --measure --ranks` and `tessera inspect --measure`.
namespace tessera::cli {

/// The link of these ranks: the processes that mpirun has started, which must be so many, or threads of this
/// one.
/// @return whether this is the first rank, which alone has results
bool measure_link(machine::Machine& machine, int64_t ranks, const Environment& environment);

/// The account of a distribution (distribution/spmd/model_report.h) with `measured_microseconds` for every
/// exchange; the same text on the first rank only, empty on others.
std::string with_measured_boxes(const std::string& account, const std::string& where,
                                const Environment& environment);

}  // namespace tessera::cli
