#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lowering/storage.h"

namespace tessera::lowering {

/// The reads of a block's operators of each other's results, axis by axis: all that decides which nests of
/// them are legal, and which part of a producer one tile needs, by numbers instead of expressions.
struct BlockLinks {
    /// An axis of a result, as one access reads it.
    struct Axis {
        int iterator = -1;       ///< of the reader, if the axis runs with it one for one, inside of it
        std::vector<int> mixed;  ///< otherwise: the reader's iterators on which the coordinate depends
    };
    /// An access of a result that an operator of the block makes, views followed.
    struct Access {
        int producer = 0, result = 0;
        std::vector<Axis> axes;
        bool is_behind_fold = false;  ///< in the post-expression
    };
    struct Result {
        ValueId value;
        int tensor = 0;              ///< of the definition
        std::vector<int> iterators;  ///< that write its axes; -1: the axis is written at an expression
        std::vector<bool> is_whole;  ///< the iterator runs over the whole axis
        std::vector<int> used;       ///< iterators that index it
        bool is_update = false;      ///< of a state, in place
        bool is_in_view = false;     ///< takes over a view, which has other axes
    };
    /// A predicate x < E or x <= E, which ends loops over x.
    struct End {
        std::vector<int> single;  ///< iterators in E that must have one value each, or no bound is known
        int grows_with = -1;      ///< another iterator in E; -1: there is none
    };
    struct Operator {
        const Node* node;
        std::vector<int64_t> largest;  ///< extents of the iterators, at the upper bounds of the symbols
        std::vector<int> extent;       ///< their numbers: extents of one number are equal for all symbols
        std::vector<std::optional<End>> ends;  ///< by iterator: the predicate's end of a loop over it
        std::vector<Result> results;
        std::vector<Access> accesses;
        bool is_reduction(int x) const {
            return node->definition()->iterators[static_cast<size_t>(x)].is_reduction;
        }
    };
    const Graph* graph = nullptr;
    std::vector<Operator> operators;   ///< in the order of the block; no views
    std::vector<std::string> extents;  ///< by number, as expressions of the symbols

    /// Position of the operator of this name; -1 if there is none.
    int find(std::string_view name) const;
};

/// The places in `input.specialisation` decide which results are views.
BlockLinks block_links(const LoweringInput& input, const Block& block);

}  // namespace tessera::lowering
