#pragma once

#include <optional>
#include <string>

#include "distribution/spmd/distribute_model.h"

namespace tessera::spmd {

/// A distributed model, for people and programs.
struct ModelReport {
    Cluster cluster;
    ModelDistribution found;
    std::optional<ModelDistribution> by_hand;  ///< with Megatron's splits
};

/// The forms of every value and every box, block by block; of an infeasible problem what needs the memory,
/// and what would suffice.
std::string text(const ModelReport& report);
/// One JSON object: devices, carried, by_hand, the keys of distribution/report.h, and of a plan `groups` with
/// the tensors and boxes of each block, and `held`, the memory by kind. Boxes for execution have an
/// `exchange`, what the ranks do for one decoded token.
std::string json_text(const ModelReport& report);

/// Tables of the groups and the memory in such an object. @throws Error if it is none
std::string groups_text(std::string_view json, const std::string& where);

}  // namespace tessera::spmd
