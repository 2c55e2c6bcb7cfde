#pragma once

#include <string>
#include <vector>

#include "machine/published_models.h"
#include "nest/nests/level_facts.h"
#include "nest/nests/nest_facts.h"

namespace tessera::nests {

/// The least that a kernel needs: operations of its definitions, each once, and bytes that are read from
/// outside or stored, each once.
struct LeastWork {
    int64_t flops = 0;
    int64_t bytes = 0;
    bool operator==(const LeastWork&) const = default;
};
/// @param visible results before the last operator that are stored, too
LeastWork least_work(const Kernel& kernel, const std::vector<std::string>& visible = {});

/// On a machine with one level: T_mem of nncase is all that is moved by the bandwidth, T_comp all flops by
/// the peak.
machine::PublishedPrice price_published(machine::PublishedModel model, const NestFacts& facts,
                                        const LeastWork& least, const machine::PeakRates& machine);

/// On a machine with levels. MCFuser and the roofline know two, memory and what is on the chip: bytes are
/// those that cross the level next to memory; rates are those of all units.
machine::PublishedPrice price_published(machine::PublishedModel model, const LevelFacts& facts,
                                        const LeastWork& least, const LevelMachine& machine);

}  // namespace tessera::nests
