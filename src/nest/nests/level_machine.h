#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// A machine with several memory levels, on which tensors of a nest are placed.
namespace tessera::nests {

struct MemoryLevel {
    std::string name;
    std::optional<int64_t> capacity;  ///< bytes; empty: any amount fits
    double bandwidth = 0;             ///< bytes a second to the next outer level; 0 of memory
    bool is_per_unit = false;         ///< each unit has one of its own, with this capacity and bandwidth
    bool operator==(const MemoryLevel&) const = default;
};

/// seconds x the numbers of values that these iterators have in the region of one execution.
struct TimeTerm {
    double seconds = 0;
    std::vector<std::string> iterators;
    bool operator==(const TimeTerm&) const = default;
};

/// Seconds of one execution of an operator: the sum of the terms.
struct OperatorTime {
    std::string op;
    std::vector<TimeTerm> terms;
    bool operator==(const OperatorTime&) const = default;
};

struct LevelMachine {
    std::vector<MemoryLevel> levels;  ///< outermost first; memory and at least one behind it
    double peak = 0;                  ///< flops a second of one unit
    int64_t units = 1;
    std::vector<OperatorTime> times;  ///< of operators; the others take flops / peak

    int inner() const { return static_cast<int>(levels.size()) - 1; }
    int find(std::string_view level) const;  ///< -1 if there is none
    bool operator==(const LevelMachine&) const = default;
};

inline int LevelMachine::find(std::string_view level) const {
    for (size_t i = 0; i < levels.size(); ++i)
        if (levels[i].name == level) return static_cast<int>(i);
    return -1;
}

}  // namespace tessera::nests
