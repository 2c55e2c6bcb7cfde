#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "cost/evaluate.h"
#include "lowering/tiled_kernel.h"

namespace tessera::schedule {

/// True if an operator folds a part of its reduction in each trip of a loop of its own.
bool is_folded_in_parts(const lowering::BlockLinks& links, const lowering::TiledKernel& kernel, size_t at);

/// A memory of the leaves that lower in parts of operators. Lowering a nest to find out takes a thousand
/// times as long as an evaluation, so parts of one kind share the answer. A part's kind holds what strides
/// and limits of micro-kernels depend on: which iterators are tiled, whether lanes fit into their tiles, and
/// which operands and results are tiles. Leaves of one family, which differ in register blocks alone, share
/// it after several refusals. So a refusal may be too hasty; accepted leaves are lowered in the end.
class LeafMemo {
public:
    using Kind = std::vector<int64_t>;
    static Kind kind_of(const lowering::BlockLinks& links, const lowering::TiledKernel& kernel, size_t at,
                        const std::vector<bool>& is_tile);

    explicit LeafMemo(const cost::Evaluator& evaluator) : evaluator_(evaluator) {}

    /// The answers for a kind of parts.
    class OfKind;
    OfKind of(const Kind& kind) const;
    /// @param is_of_all_tiles the leaf's family is refused in all parts that differ in tile sizes alone
    void refuse(const Kind& kind, int leaf, bool is_of_all_tiles = false);
    void accept(const Kind& kind, int leaf);

private:
    struct Record {
        std::set<int> refused, accepted;        ///< leaves
        std::map<int, int> refusals_of_family;  ///< number of refused leaves
        std::set<int> accepted_families;
    };
    /// A family that was refused in several kinds of parts and accepted in none is refused in all that differ
    /// in tile sizes alone.
    struct Family {
        std::map<int, int> refusals;  ///< number of kinds
        std::set<int> refused;        ///< by refusals that say so
        std::set<int> accepted;
    };
    static Kind without_sizes(const Kind& kind);

    const cost::Evaluator& evaluator_;
    std::map<Kind, Record> records_;
    std::map<Kind, Family> of_all_sizes_;
};

class LeafMemo::OfKind {
public:
    bool has_refused(int leaf) const;
    bool has_accepted(int leaf) const { return record_ && record_->accepted.contains(leaf); }

private:
    friend class LeafMemo;
    OfKind(const LeafMemo& memo, const Record* record, const Family* of_all_sizes, bool is_folded)
        : memo_(memo), record_(record), of_all_sizes_(of_all_sizes), is_folded_(is_folded) {}

    const LeafMemo& memo_;
    const Record* record_;        ///< null: nothing is known
    const Family* of_all_sizes_;  ///< null: nothing is known
    const bool is_folded_;
};

}  // namespace tessera::schedule
