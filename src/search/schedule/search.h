#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "search/schedule/solve_tiles.h"

namespace tessera::schedule {

struct SearchOptions {
    int64_t nests = 2000;  ///< of several operators that are solved, at most; 0: operators stay alone
    /// The most operators that are priced, over all choices of tiles: a large kernel takes longer than a
    /// small one. A kernel that is being solved is completed.
    int64_t priced = 2'000'000;
    size_t region = 4;  ///< operators of the regions that are all looked at
    TileOptions tiles = {};
    int64_t proof = 2000;  ///< TileOptions::nodes for the kernels of the choice; 0: no proof
    bool grows = true;     ///< kernels of a choice are joined to ones larger than these regions
    size_t kept = 0;       ///< structures of Schedule::cheapest, at most
};

/// A kernel of several operators that was chosen.
struct FusedKernel {
    std::string nest;                  ///< as a tiling expression
    double seconds = 0;                ///< with its share of barriers, as the following
    double apart = 0;                  ///< of its operators in the best smaller kernels
    int64_t nests = 0;                 ///< that were solved
    double next = 0;                   ///< of the next best of these; infinite if there is none
    double computing = 0, moving = 0;  ///< seconds of the operations, and of all transfers
};

/// The result and the counts of a block's search.
struct Schedule {
    std::vector<SolvedKernel> kernels;  ///< in the order of execution
    double seconds = 0;                 ///< the sum of the kernels'
    double unfused_seconds = 0;         ///< the same of operators alone
    std::vector<FusedKernel> fused;     ///< in the order of execution
    std::vector<Structure> cheapest;    ///< by ascending time, the chosen one first
    int64_t regions = 0;                ///< of up to SearchOptions::region operators
    int64_t cannot_save = 0;            ///< of these whose bound leaves nothing to save
    int64_t grown = 0;                  ///< larger ones that were solved: two kernels of a choice, joined
    int64_t nests = 0;                  ///< of several operators that were solved
    int64_t kernels_solved = 0;         ///< kernels, those that are alike once
    int64_t work = 0;                   ///< choices of tile sizes that were evaluated
    int64_t priced = 0;                 ///< operators in these choices
    int64_t lowered = 0;                ///< kernels that were lowered as a test
    int64_t left_apart = 0;             ///< kernels that might save time in one that would exceed the limits
    double gap = 0;                     ///< of the last choice: (cost - bound) / cost over the candidates
    bool is_exhausted = false;          ///< no budget ended the search
    int64_t proved = 0;                 ///< of `kernels`, those whose tiles are proved (is_proved)
    double tile_gap = 0;                ///< the share of `seconds` that other tiles may save, at most
};

/// The kernels of a block that take least time: a choice among regions of its operators, each with its best
/// nest (paper 000, 3.2.1), by one extraction (partition.h). All regions up to a size are candidates, unless
/// a bound says that they cannot save time. Then kernels of the choice are joined, two by two, until none of
/// these pairs gains. The same block gives the same schedule.
Schedule search(BlockContext& block, const SearchOptions& options);

/// The sums over the searches of several blocks.
struct Totals {
    int64_t nests = 0, kernels = 0, work = 0, left_apart = 0;
    bool is_exhausted = true;
    void add(const Schedule& schedule);
};

/// The effect of a budget, if one cut the search short; else empty.
std::string cut_short(const Totals& totals);
/// "823 nests, 708 kernels, 145410 choices of tiles": for a report.
std::string summary(const Totals& totals);
/// The totals of a block, then every kernel of several operators with its runner-up.
std::string print(const Schedule& schedule);

}  // namespace tessera::schedule
