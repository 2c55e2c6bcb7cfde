#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "search/schedule/solve_tiles.h"

namespace tessera::schedule {

struct SearchOptions {
    int64_t states = 2000;  ///< structures that are evaluated, at most
    /// The most operators that are priced, over all choices of tiles: a large kernel takes longer than a
    /// small one. A kernel that is being solved is completed.
    int64_t priced = 2'000'000;
    int64_t states_of_part = 200;  ///< of one part of a block
    size_t part = 6;               ///< kernels that are searched together
    TileOptions tiles = {};
    size_t kept = 0;  ///< structures of Schedule::cheapest, at most
};

/// The search of kernels that read each other's results; the others of the block stay.
struct PartReport {
    std::vector<std::string> kernels;    ///< at its begin, as tiling expressions; memory-bound ones say so
    double before = 0, seconds = 0;      ///< of these kernels
    std::vector<std::string> actions;    ///< that lead to the best structure
    std::vector<std::string> runner_up;  ///< to the best other one
    double runner_up_seconds = 0;        ///< infinite if there is none
    int64_t visits = 0, states = 0;
    bool is_exhausted = false;  ///< every structure that actions reach was evaluated
};

/// The result and the counts of a block's search.
struct Schedule {
    std::vector<SolvedKernel> kernels;  ///< in the order of execution
    double seconds = 0;                 ///< the sum of the kernels'
    double unfused_seconds = 0;         ///< of the structure from which the search starts
    std::vector<PartReport> parts;      ///< in the order in which they were searched
    std::vector<Structure> cheapest;    ///< of a block that is one part, by ascending time
    int64_t visits = 0;                 ///< walks from the roots
    int64_t states = 0;                 ///< distinct structures
    int64_t kernels_solved = 0;         ///< kernels, those that are alike once
    int64_t work = 0;                   ///< choices of tile sizes that were evaluated
    int64_t priced = 0;                 ///< operators in these choices
    int64_t lowered = 0;                ///< kernels that were lowered as a test
    int64_t left_apart = 0;             ///< kernels that might save time in one that would exceed the limits
    bool is_exhausted = false;          ///< every structure that actions reach in a part was evaluated
    bool is_proved = false;  ///< one part, exhausted, and every choice of tile sizes of each kernel
};

/// Monte Carlo tree search over the structures of a block (paper 000, 3.2.1): each is evaluated by solving
/// its kernels for tile sizes, in place of a random roll-out. Equal structures are one state, whichever
/// actions lead there. A large block is searched by parts, the slowest first; the next ones begin with the
/// best structure of a part, until no part can be improved. The same block gives the same schedule.
Schedule search(BlockContext& block, const SearchOptions& options);

/// The sums over the searches of several blocks.
struct Totals {
    int64_t structures = 0, kernels = 0, work = 0, left_apart = 0;
    bool is_exhausted = true;
    void add(const Schedule& schedule);
};

/// The effect of a budget, if one cut the search short; else empty.
std::string cut_short(const Totals& totals);
/// "823 structures, all within their parts, 708 kernels, 145410 choices of tiles": for a report.
std::string summary(const Totals& totals);
/// The totals of a block, then every part whose kernels changed: before, the actions, and the runner-up.
std::string print(const Schedule& schedule);

}  // namespace tessera::schedule
