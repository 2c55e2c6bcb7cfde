#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "nest/nests/buffer.h"
#include "nest/nests/level_machine.h"
#include "nest/nests/nest.h"
#include "nest/nests/trip_walk.h"

namespace tessera::nests {

struct LevelBufferCounts {
    std::string name;  ///< "A@L2", "A@L1 for c", "C@L1 by c"
    int tensor = 0;
    int level = 0;
    BufferRole role = BufferRole::kRead;
    int other = 0;  ///< level from which it is filled, or to which it is emptied; not of kept ones
    Transfers loads, stores, reloads;
    int64_t box_bytes = 0;  ///< of the largest box
    bool operator==(const LevelBufferCounts&) const = default;
};

/// Moves between levels, and executions. Counts run over all units; what moves between shared levels moves
/// once for all of them.
struct LevelMovement {
    int64_t units = 0;
    std::vector<OperatorCounts> operators;  ///< as Kernel::operators
    std::vector<LevelBufferCounts> buffers;
    std::vector<int64_t> most_bytes_of_unit;  ///< by level: of the unit across whose level the most bytes go
    double compute_seconds = 0;               ///< of the unit that computes longest
    bool operator==(const LevelMovement&) const = default;
};

/// Walks the nest trip by trip, with buffers in each level.
///
///     m:8 { load A @L2; n:5 { .. c } }     A@L2 is filled with eight rows, A@L1 for c from it, trip by trip
///
/// The units walk one after the other. All must do the same in shared levels, as if they walked in step.
/// @throws Error beyond the steps that are allowed, and of counts beyond 64 bits
std::variant<LevelMovement, Illegal> walk(const Kernel& kernel, const LevelMachine& machine, const Nest& nest,
                                          const WalkOptions& options = {});

}  // namespace tessera::nests
