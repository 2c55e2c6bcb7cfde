#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nest/nests/buffer.h"
#include "nest/nests/nest.h"
#include "nest/nests/trip_walk.h"

namespace tessera::nests {

struct BufferCounts {
    std::string name;  ///< "A for c", or the tensor
    int tensor = 0;
    BufferRole role = BufferRole::kRead;
    Transfers loads;
    Transfers stores;
    Transfers reloads;
    int64_t box_bytes = 0;             ///< of the largest box
    std::vector<std::string> depends;  ///< names of the loops that change the box, outermost first
    bool operator==(const BufferCounts&) const = default;
};

/// The executions and transfers of a nest.
struct Movement {
    int64_t units = 0;
    std::vector<OperatorCounts> operators;     ///< as Kernel::operators
    std::vector<BufferCounts> buffers;         ///< in the order of operators and their tensors
    std::optional<std::string> wrong_numbers;  ///< the rule by which the numbers would be wrong
    bool operator==(const Movement&) const = default;
};

/// Walks the nest trip by trip. @throws Error beyond the steps that are allowed, and of counts beyond 64 bits
Movement walk(const Kernel& kernel, const Nest& nest, const WalkOptions& options = {});

}  // namespace tessera::nests
