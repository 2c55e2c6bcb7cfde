#pragma once

#include <vector>

#include "search/extraction/sat.h"

namespace tessera::extraction {

/// Counts true literals in unary, in the solver: a balanced tree whose nodes add the counts of their halves.
/// Only the bounds that are asked for exist; a larger one adds the missing clauses. Only "at least k are
/// true implies at_least(k)" is encoded, which is what an upper bound on the count needs.
/// Source: Martins, Joshi, Manquinho, Lynce: Incremental Cardinality Constraints for MaxSAT, CP 2014.
class Totalizer {
public:
    Totalizer(Sat& sat, const std::vector<int>& literals);

    int size() const { return nodes_.back().size; }
    /// The literal that holds if at least k of the literals do. @pre 1 <= k <= size()
    int at_least(int k);

private:
    struct Node {
        int size;
        int left = -1, right = -1;  ///< positions in nodes_; -1 for a leaf
        std::vector<int> outputs;   ///< at position k - 1: at least k
    };
    int build(std::span<const int> literals);
    void extend(int node, int bound);

    Sat& sat_;
    std::vector<Node> nodes_;  ///< children before parents
};

}  // namespace tessera::extraction
