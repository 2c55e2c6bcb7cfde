#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "lowering/tiled_kernel.h"

namespace tessera::schedule {

/// Whether an operator folds a part of its reduction in each trip of a loop of its own.
bool is_folded_in_parts(const lowering::BlockLinks& links, const lowering::TiledKernel& kernel, size_t at);

/// Which leaves have lowered in which parts of operators. Lowering tells it for a nest, and takes a thousand
/// times as long as an evaluation; here parts of one kind share the answer. A part's kind is what strides and
/// limits of micro-kernels depend on: which iterators are tiled, whether lanes fit into their tiles, and
/// which operands and results are tiles. So a refusal may be too hasty; what was accepted is lowered in the
/// end.
class LeafMemo {
public:
    using Kind = std::vector<int64_t>;
    static Kind kind_of(const lowering::BlockLinks& links, const lowering::TiledKernel& kernel, size_t at,
                        const std::vector<bool>& is_tile);

    bool has_refused(const Kind& kind, int leaf) const;
    bool has_accepted(const Kind& kind, int leaf) const;
    void refuse(const Kind& kind, int leaf);
    void accept(const Kind& kind, int leaf);

private:
    /// A leaf that was refused in several kinds of parts and accepted in none is refused in all that differ
    /// in tile sizes alone; but not where it folds in parts, which tiles that are too large forbid.
    struct Record {
        std::map<int, int> refusals;  ///< by leaf: kinds
        std::set<int> accepted;
    };
    static Kind without_sizes(const Kind& kind);

    std::map<Kind, std::set<int>> refused_, accepted_;
    std::map<Kind, Record> records_;
};

}  // namespace tessera::schedule
