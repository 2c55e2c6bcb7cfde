#pragma once

#include <vector>

#include "kernels/contraction.h"
#include "planner/default_planner.h"

namespace tessera {

/// A sum of products as one that a matrix unit computes: which definition, in which roles, how many rows of A
/// at most.
struct TileProduct {
    const Definition& definition;
    const Contraction& roles;
    int64_t rows;
};

/// Parameters of `contract_tiles` that name a matrix unit's tiles and how many of them are in registers:
/// `lanes`, `tile_rows`, `depth`, `rows`, `groups`. For each unit of the machine that multiplies the factors'
/// types into f32, reads B as it is stored (unit_lanes.h), and is the fastest for so many rows as far as was
/// measured: a tile of fewer rows takes as long as a whole one. One row is for the vector units, which read B
/// at the rate of the memory.
std::vector<std::map<std::string, std::string>> tile_parameters(const TileProduct& product,
                                                                const PlannerOptions& options);

}  // namespace tessera
