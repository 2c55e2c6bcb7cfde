#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "machine/published_models.h"
#include "nests/level_facts.h"
#include "nests/nest_facts.h"

namespace tessera::nests {

/// A nest priced by a published model.
struct PublishedPrice {
    machine::PublishedModel model = machine::PublishedModel::kMcfuser;
    double seconds = 0;
    double memory = 0;   ///< seconds
    double compute = 0;  ///< seconds
    double alpha = 1;    ///< of MCFuser
    bool operator==(const PublishedPrice&) const = default;
};

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
PublishedPrice price_published(machine::PublishedModel model, const NestFacts& facts, const LeastWork& least,
                               const machine::PeakRates& machine);

/// On a machine with levels. MCFuser and the roofline know two, memory and what is on the chip: bytes are
/// those that cross the level next to memory; rates are those of all units.
PublishedPrice price_published(machine::PublishedModel model, const LevelFacts& facts, const LeastWork& least,
                               const LevelMachine& machine);

/// The price from T_mem and T_comp that something else has counted.
PublishedPrice nncase_price(double memory, double compute);

nlohmann::ordered_json to_json(const PublishedPrice& price);
/// "mcfuser  3.3e-06 s = (6.1e-07 s memory + 1.0e-06 s compute) x 2"
std::string to_text(const PublishedPrice& price);

}  // namespace tessera::nests
