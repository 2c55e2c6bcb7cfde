#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "machine/machine.h"

namespace tessera::measure {

/// One operator alone in a graph, or a fold and what reads it, at a size.
struct KernelSubject {
    Graph graph;
    std::map<std::string, std::string> types;  ///< of A, B, C; of an operator that is no product: of C
    std::map<std::string, int64_t> sizes;      ///< of the iterators
    std::string streamed;          ///< the iterator of B's rows: lanes of a product lie along it or along the
                                   ///< reduction; empty: no product
    bool is_typical = true;        ///< the one of its kind that matters: all its register blocks are timed
    bool is_cached = false;        ///< B is a state, which is stored for no unit in particular
    bool has_whole_tiles = false;  ///< rows of a matrix unit's tiles: only its micro-kernels are timed
};

/// The subjects for which the planner consults the table: products with every format of weights and every
/// form of activations, with one row, a few, and so many that every register block divides them, where a
/// matrix unit multiplies them also with the rows of one tile and of a block of tiles; the scores of
/// attention and the streaming softmax by types of the cache; and operators that are no products, by their
/// work (maps with and without special functions, at a stride and at indices, reductions of rows and of
/// blocks, norms whose products wait for their sum). B takes half of the core's own second level at most.
std::vector<KernelSubject> kernel_subjects(const machine::Machine& machine);

}  // namespace tessera::measure
