#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "machine/published_models.h"
#include "nest/nests/nest.h"
#include "nest/nests/walk.h"

namespace tessera::nests {

struct OperatorFacts {
    std::string name;
    int64_t executions = 0;
    int64_t points = 0;
    int64_t iterations = 0;  ///< of the definition: points / iterations is how often they are computed
    int64_t flops = 0;
    int64_t special = 0;
    bool operator==(const OperatorFacts&) const = default;
};

/// @throws Error of counts beyond 64 bits
std::vector<OperatorFacts> operator_facts(const Kernel& kernel, const std::vector<OperatorCounts>& counts);

/// Facts that follow from a nest. Counts run over all units.
struct NestFacts {
    int64_t units = 0;
    std::vector<OperatorFacts> operators;  ///< none of a closed form (nest/nests/space_nest.h)
    std::vector<BufferCounts> buffers;     ///< likewise
    int64_t footprint = 0;                 ///< bytes: the largest box of every buffer
    int64_t bytes = 0;                     ///< all that is loaded, stored and reloaded
    int64_t flops = 0;
    std::optional<machine::McfuserTimes> model;  ///< on a machine only
    bool operator==(const NestFacts&) const = default;
};

using Verdict = std::variant<NestFacts, Illegal>;

/// @throws Error beyond the steps of the walk
Verdict derive_facts(const Kernel& kernel, const Nest& nest,
                     const std::optional<machine::PeakRates>& machine = std::nullopt,
                     const WalkOptions& options = {});

/// The same of a nest as it is written.
Verdict derive_facts(const Kernel& kernel, std::string_view nest, const std::vector<std::string>& visible,
                     const std::optional<machine::PeakRates>& machine, const WalkOptions& options = {});

/// Why the nest is refused; empty if it is legal.
std::optional<Illegal> why_illegal(const Kernel& kernel, std::string_view nest,
                                   const std::vector<std::string>& visible = {},
                                   const WalkOptions& options = {});

/// @throws Error for a file that is no `.nest`: without a nest, with levels, or with a space
void check_one_nest(const KernelFile& file);
/// The facts of a `.nest` file. @throws Error for any other file
Verdict derive_facts(const KernelFile& file, const WalkOptions& options = {});

/// In the schema of the facts of nests.
nlohmann::ordered_json to_json(const Verdict& verdict);
/// For people: a table of the operators, one of the buffers, and the sums.
std::string to_text(const NestFacts& facts);

}  // namespace tessera::nests
