#include "lowering/nest_checks.h"

#include <algorithm>

#include "lowering/nest_rules.h"

namespace tessera::lowering {
namespace {

[[noreturn]] void refuse(const BrokenRule& broken, const Storage& storage) {
    throw Refused(refusal(broken, storage.input().graph));
}

/// A result where its operator stands in the nest, for `broken_part`.
struct PlacedResult {
    bool is_in_tiles, takes_over;
    const Ranges& ranges;
    const std::vector<movement::Index>& extents;
    const LoopsAround& around;

    bool is_tile() const { return is_in_tiles; }
    bool is_stopped() const { return around.stopped > 0; }
    bool is_replacing() const { return takes_over; }
    bool covers(int x) const {
        const auto at = static_cast<size_t>(x);
        return ranges[at].covered && *ranges[at].covered == extents[at];
    }
    size_t loops() const { return around.variables.size(); }
    std::string_view loop_name(size_t loop) const { return around.variables[loop]; }
    int moved(size_t loop) const {
        return static_cast<int>(std::ranges::count_if(
            ranges, [&](const Range& range) { return range.begin.uses(around.variables[loop]); }));
    }
};

bool reads(const Node& reader, const Node& maker, const Storage& storage) {
    return std::ranges::any_of(reader.operands, [&](ValueId operand) {
        return std::ranges::any_of(
            maker.results, [&](ValueId result) { return storage.base(operand) == storage.base(result); });
    });
}

}  // namespace

void check_part(const Node& node, const Ranges& ranges, const LoopsAround& around, const Storage& storage) {
    const Definition& definition = *node.definition();
    const std::vector<movement::Index> extents = iterator_extents(node, storage.input());
    for (const int t : definition.results()) {
        const TensorDecl& result = definition.tensors[static_cast<size_t>(t)];
        const ValueId value = value_of(node, t);
        const PlacedResult placed{
            storage.plan_of(storage.base(value)).place == plan::Place::kTile,
            result.role == Role::kOut && storage.plan_of(value).place == plan::Place::kInPlace, ranges,
            extents, around};
        if (const auto broken = broken_part(node, t, value, iterators_in(result.map), placed))
            refuse(*broken, storage);
    }
}

void check_folds_once(const Node& node, int x, const Storage& storage) {
    const Definition& definition = *node.definition();
    for (const int t : definition.results()) {
        const std::vector<int> used = iterators_in(definition.tensors[static_cast<size_t>(t)].map);
        if (const auto broken = broken_fold(node, value_of(node, t), used, x)) refuse(*broken, storage);
    }
}

void check_hidden(const plan::Nest& inner, const std::vector<const Node*>& kernel, const Storage& storage) {
    std::vector<const Node*> made;
    for (const plan::Leaf* leaf : plan::leaves(inner)) made.push_back(&storage.block().node(leaf->node));
    const ValueId of_root = storage.base(made.back()->results.front());
    const auto is_inside = [&](const Node* node) { return std::ranges::find(made, node) != made.end(); };
    const auto for_each_read = [&](const Node* reader, const auto& is_found) {
        for (const Node* maker : made) {
            if (storage.base(maker->results.front()) == of_root) continue;  // replaced by the root's
            if (reads(*reader, *maker, storage) && is_found(maker)) return;
        }
    };
    const auto hidden = hidden_read(kernel, made.back(), is_inside, for_each_read);
    if (!hidden) return;
    refuse({NestRule::kSeenInside, hidden->maker, hidden->maker->results.front(), -1, 0, hidden->reader},
           storage);
}

}  // namespace tessera::lowering
