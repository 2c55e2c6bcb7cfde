#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "chip/schedule_problem.h"

namespace tessera::chip {

/// A row of a class: of the positions that are the same one of all copies of a repeat.
struct ClassRow {
    const Row* row;
    size_t index;    ///< in the operator
    double execute;  ///< of all positions of the class, as parts of all work
    double preload;
    double space;  ///< of the execute, as a part of the SRAM
};

/// Positions of the problem with few copies, the last one excluded.
struct HeldSpan {
    size_t first, last;
};

/// A row of preloads and the rows of one class of executes that it may run beside. Rows of a class have
/// growing exec_bytes, so these are its first ones.
struct Beside {
    size_t preload;  ///< class row
    size_t execute;  ///< the first class row
    size_t pair;     ///< the first of its pairs
    size_t pairs;    ///< a multiple of kPairLanes
    size_t span;     ///< place of the positions across which the preload is held
    double rent;     ///< of its progress, for a price of 1 of all space during the span, over all work
};

/// Pairs are treated so many at a time. The last ones of a Beside may be of no rows: then both speeds are 0.
inline constexpr size_t kPairLanes = 2;

/// The pairs of rows of an execute and a preload that may run together in some copies of a problem.
struct TogetherPairs {
    std::vector<size_t> class_of;    ///< of each position
    std::vector<ClassRow> rows;      ///< kPairLanes more may be looked at by pairs of no rows
    std::vector<size_t> first;       ///< row of each class, and the end
    std::vector<double> positions;   ///< of each class, over all work
    std::vector<uint8_t> has_price;  ///< of each class: has_space_limit
    std::vector<size_t> few;         ///< the classes of the positions with few copies
    std::vector<HeldSpan> spans;
    std::vector<Beside> besides;
    std::vector<double> execute_speed, preload_speed;  ///< of each pair
    size_t count = 0;                                  ///< of pairs of rows

    size_t classes() const { return first.size() - 1; }
};

/// @param least_preload of a class row, as a part of all work: shorter ones are left out
/// @param most of the pairs; with more the rest is left out. @pre there is a valid schedule
TogetherPairs together_pairs(const ScheduleProblem& problem, double least_preload, size_t most);

}  // namespace tessera::chip
