#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// The chip: schedules of preloads and executes over tables of plans (docs/chip.md), and a simulator of
/// device programs.
namespace tessera::chip {

/// The limit on the positions of a problem's sequence.
inline constexpr size_t kMostPositions = 100'000;

/// The side that a full link serves while a preload and an execute run together.
enum class Share : uint8_t {
    kFair,
    kExecute,
    kPreload,
    kPhases,  ///< the execute, which has its traffic at one time: a preload that would end then waits
};
inline constexpr Share kShares[] = {Share::kFair, Share::kExecute, Share::kPreload, Share::kPhases};

constexpr std::string_view name(Share share) {
    switch (share) {
        case Share::kExecute:
            return "execute";
        case Share::kPreload:
            return "preload";
        case Share::kPhases:
            return "phases";
        case Share::kFair:
            break;
    }
    return "fair";
}

/// Use of the link by an execute or a preload.
struct LinkUse {
    double share = 0;   ///< while it runs alone
    double cycles = 0;  ///< of the traffic of an execute; of a preload alone
    friend bool operator==(const LinkUse&, const LinkUse&) = default;
};

/// A plan of an operator: one choice between time and space. Bytes are of SRAM in each core, times in cycles.
struct Row {
    int64_t preload_bytes = 0;
    int64_t exec_bytes = 0;
    double compute = 0;
    double shift = 0;
    double distribute = 0;
    double hbm = 0;      ///< of the preload in the HBM
    double link_in = 0;  ///< of the preload on the link into each core
    double latency = 0;  ///< of the preload, besides both

    double preload() const { return std::max(hbm, link_in) + latency; }
    double traffic() const { return shift + distribute; }
    double execute() const { return compute + shift + distribute; }
    double preload_share() const { return preload() > 0 ? link_in / preload() : 0; }
    double execute_share() const { return traffic() / execute(); }
    LinkUse preload_use() const { return {preload_share(), preload()}; }
    LinkUse execute_use() const { return {execute_share(), traffic()}; }
    friend bool operator==(const Row&, const Row&) = default;
};

struct Operator {
    std::string name;
    std::vector<Row> rows;  ///< at least one
    friend bool operator==(const Operator&, const Operator&) = default;
};

/// `count` copies of `length` positions, one after the other from `first` on.
struct Repeat {
    size_t first = 0;
    size_t length = 0;
    size_t count = 0;
    friend bool operator==(const Repeat&, const Repeat&) = default;
};

struct ScheduleProblem {
    int64_t sram_bytes = 0;
    double clock_hz = 1;
    Share share = Share::kFair;
    std::vector<Operator> operators;
    std::vector<size_t> sequence;  ///< index into `operators` of each position; never empty
    std::vector<Repeat> repeats;   ///< of the sequence: disjoint, increasing; from the file, never needed

    size_t size() const { return sequence.size(); }
    const Operator& at(size_t position) const { return operators[sequence[position]]; }
    bool is_usable(const Row& row) const { return std::max(row.preload_bytes, row.exec_bytes) <= sram_bytes; }
    friend bool operator==(const ScheduleProblem&, const ScheduleProblem&) = default;
};

/// A device program. The preloads with slot 0 come first, in their order, then execute 0, then those with
/// slot 1, and so on.
struct Schedule {
    std::vector<size_t> rows;   ///< of each position
    std::vector<size_t> order;  ///< positions in the order of their preloads
    std::vector<size_t> slots;  ///< of each position: the execute in front of which its preload is issued
    friend bool operator==(const Schedule&, const Schedule&) = default;
};

}  // namespace tessera::chip
