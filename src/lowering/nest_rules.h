#pragma once

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "lowering/refusal.h"

/// The rules that a nest has to keep, each stated once. Lowering asks them of the symbolic ranges of a plan's
/// kernel (`lower.h`), the searches of a nest by numbers (`tiled_kernel.h`).
namespace tessera::lowering {

enum class NestRule : uint8_t {
    kHasOwnAxes,       ///< what is made by tiles takes over no view
    kReadAtIterators,  ///< along an axis that is made by tiles, readers run with one iterator
    kWrittenAtIterators,
    kWrittenWhole,    ///< an iterator that writes an axis runs over all of it
    kNoEarlyEnd,      ///< what is stored whole is in no loop that a predicate ends
    kCoversIterator,  ///< all trips together make what is stored whole
    kOneAxisALoop,    ///< of what is stored whole: a loop over two axes reaches each value, but not each pair
    kMadeOnce,        ///< what starts from the storage that it replaces
    kFoldsOnce,       ///< inside a loop over the reduction
    kReadBehindFold,  ///< a post-expression, behind the loops over the reduction, reads no tile made in them
    kSeenInside,      ///< results of an inner nest's operators before its root are read inside of it
    kKeepsOrder,  ///< a lone operator is a kernel of its own, a recurrence without loops over what it folds
};

/// True for an operator that shares its kernel with no other: a recurrence, and one that computes in numbers
/// of 64 bits, which no tile holds.
inline bool is_lone(const Definition& definition) {
    return definition.is_recurrence() || definition.is_wide();
}

/// A broken rule, and its place in the nest.
struct BrokenRule {
    NestRule rule;
    const Node* node;  ///< makes the value
    ValueId value;
    int iterator = -1;             ///< of the node; of kReadAtIterators: one in the expression
    size_t axis = 0;               ///< of the value
    const Node* reader = nullptr;  ///< of the value
    std::string_view around = {};  ///< the loop; of kReadAtIterators: the expression, if it is known
};

/// The message.
Refusal refusal(const BrokenRule& broken, const Graph& graph);

/// A producer computes the part that the rest of a nest reads. This part must be the whole if others read it
/// too, and no element may be computed twice if the second time would start from the first result.
/// @param used the iterators that index the result
/// @param place tells, of a result where the producer stands: whether it `is_tile`, `is_stopped` by a
/// predicate, or `is_replacing` an operand; whether all trips `cover(iterator)`; for each of its `loops()` of
/// several trips the name and the number of the operator's iterators that it `moves`
template <typename Place>
std::optional<BrokenRule> broken_part(const Node& node, int result, ValueId value,
                                      const std::vector<int>& used, const Place& place) {
    const Definition& definition = *node.definition();
    if (!place.is_tile() && place.is_stopped()) return BrokenRule{NestRule::kNoEarlyEnd, &node, value};
    bool starts_from_before = place.is_replacing();
    if (definition.tensors[static_cast<size_t>(result)].role == Role::kUpdate)
        starts_from_before = starts_from_before || definition.monoid != Monoid::kNone;
    for (const int x : used) {
        if (definition.iterators[static_cast<size_t>(x)].is_reduction) {
            starts_from_before = true;
        } else if (!place.is_tile() && !place.covers(x)) {
            return BrokenRule{NestRule::kCoversIterator, &node, value, x};
        }
    }
    if (place.is_tile() && !starts_from_before) return std::nullopt;
    std::optional<BrokenRule> again;
    for (size_t loop = 0; loop < place.loops(); ++loop) {
        const int moved = place.moved(loop);
        if (!place.is_tile() && moved > 1)
            return BrokenRule{NestRule::kOneAxisALoop, &node, value, -1, 0, nullptr, place.loop_name(loop)};
        if (starts_from_before && moved == 0 && !again)
            again = {NestRule::kMadeOnce, &node, value, -1, 0, nullptr, place.loop_name(loop)};
    }
    return again;
}

/// Inside a loop over the reduction every trip folds into the present results, so a result that iterator x
/// does not index would fold the same tile in every trip over x.
inline std::optional<BrokenRule> broken_fold(const Node& node, ValueId value, const std::vector<int>& used,
                                             int x) {
    if (std::ranges::find(used, x) != used.end()) return std::nullopt;
    return BrokenRule{NestRule::kFoldsOnce, &node, value, x};
}

/// True if the post-expression reads the tensor.
bool is_read_behind_fold(const Definition& definition, int tensor);

/// An operator that a kernel's operator reads in vain.
template <typename Operator>
struct HiddenRead {
    Operator maker, reader;
};

/// Behind an inner nest only the results of its root are known whole.
/// @param kernel all operators of the kernel
/// @param is_inside tells of an operator whether it is in the inner nest
/// @param for_each_read calls, with each maker that an operator reads, a function until that returns true
template <typename Operator, typename IsInside, typename ForEachRead>
std::optional<HiddenRead<Operator>> hidden_read(const std::vector<Operator>& kernel, Operator inner_root,
                                                IsInside is_inside, ForEachRead for_each_read) {
    std::optional<HiddenRead<Operator>> found;
    for (const Operator reader : kernel) {
        if (is_inside(reader)) continue;
        for_each_read(reader, [&](Operator maker) {
            if (maker != inner_root && is_inside(maker)) found = {maker, reader};
            return found.has_value();
        });
        if (found) break;
    }
    return found;
}

}  // namespace tessera::lowering
