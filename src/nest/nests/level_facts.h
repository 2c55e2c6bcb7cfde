#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "nest/nests/kernel_file.h"
#include "nest/nests/level_walk.h"
#include "nest/nests/nest_facts.h"

namespace tessera::nests {

/// The rule by which seconds of levels and of computing become one price.
enum class LevelCost : uint8_t {
    kNncase,   ///< the larger of all traffic and all computing (paper 000, eq. 16)
    kOverlap,  ///< the largest of computing and the traffic of each level
    kSerial,   ///< the sum
};
std::string_view name(LevelCost cost);  ///< "nncase", "overlap", "serial"

struct LevelUse {
    int64_t held = 0;      ///< bytes: the largest box of each buffer; in memory all that lives there, whole
    int64_t bytes_in = 0;  ///< that cross the level on their way inward
    int64_t bytes_out = 0;
    double seconds = 0;  ///< of what crosses it, if it is per unit for the unit with the most bytes
    bool operator==(const LevelUse&) const = default;
};

/// The price of a nest on a machine with levels, with its parts.
struct LevelPrice {
    std::vector<LevelUse> levels;  ///< as LevelMachine::levels
    double memory = 0;             ///< seconds: the sum of all levels (paper 000, eq. 15)
    double compute = 0;            ///< seconds of the unit that computes longest
    bool is_feasible = false;      ///< all levels hold what they have to (eq. 14), and there are enough units

    double cost(LevelCost cost) const;
    bool operator==(const LevelPrice&) const = default;
};
/// @throws Error of counts beyond 64 bits
LevelPrice price(const Kernel& kernel, const LevelMachine& machine, const Nest& nest,
                 const LevelMovement& movement);

struct LevelFacts {
    int64_t units = 0;
    std::vector<OperatorFacts> operators;
    std::vector<LevelBufferCounts> buffers;
    int64_t flops = 0;
    LevelPrice price;
    bool operator==(const LevelFacts&) const = default;
};

using LevelVerdict = std::variant<LevelFacts, Illegal>;

/// Derives the facts of a `.tier` file. @throws Error for what is none, and beyond the steps of the walk
LevelVerdict derive_level_facts(const KernelFile& file, const WalkOptions& options = {});

/// @throws Error for a file that is no `.tier`: without levels, without a nest, or with an open problem
void check_one_nest_of_levels(const KernelFile& file);
/// The same of a nest as it is written. @throws Error beyond the steps of the walk
LevelVerdict derive_level_facts(const Kernel& kernel, const LevelMachine& machine, std::string_view nest,
                                const WalkOptions& options = {});

/// In the schema of the facts of levels. `machine`: names the levels.
nlohmann::ordered_json to_json(const LevelVerdict& verdict, const LevelMachine& machine);
/// For people: a table of the operators, of the buffers and of the levels, and the costs.
std::string to_text(const LevelFacts& facts, const LevelMachine& machine);

}  // namespace tessera::nests
