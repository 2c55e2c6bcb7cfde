#pragma once

#include <memory>
#include <string>

#include "cli/verb.h"
#include "machine/machine.h"
#include "runtime/communicator.h"

/// What is measured between ranks: by `tessera machine --measure --ranks` and `tessera inspect --measure`.
namespace tessera::cli {

/// Those that mpirun has started, which must be so many, or as many processes of this machine.
std::shared_ptr<runtime::Communicator> join_or_start_ranks(int64_t ranks, int64_t workers,
                                                           const Environment& environment);

/// The link of these ranks. @return whether this is the first rank, which alone has results
bool measure_link(machine::Machine& machine, int64_t ranks, const Environment& environment);

/// The account of a distribution (spmd/model_report.h) with `measured_microseconds` for every exchange; the
/// same text on the first rank only, empty on others.
std::string with_measured_boxes(const std::string& account, const std::string& where,
                                const Environment& environment);

}  // namespace tessera::cli
