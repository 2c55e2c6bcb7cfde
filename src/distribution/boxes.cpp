#include "distribution/boxes.h"

#include <algorithm>

#include "support/error.h"

namespace tessera::distribution {
namespace {

using Kind = Sbp::Kind;

const Sbp kWeights = partial(Monoid::kSoftmaxSum);

std::optional<Collective> collective_of(const Sbp& from, const Sbp& to) {
    if (from == to || to.kind == Kind::kPartial) return std::nullopt;
    switch (from.kind) {
        case Kind::kBroadcast:
            return Collective::kSlice;
        case Kind::kSplit:
            return to.kind == Kind::kBroadcast ? Collective::kAllGather : Collective::kAllToAll;
        case Kind::kPartial:
            return to.kind == Kind::kBroadcast ? Collective::kAllReduce : Collective::kReduceScatter;
    }
    return std::nullopt;
}

/// True if both cut the same axis, whatever their grains.
bool cut_one_axis(const Sbp& a, const Sbp& b) {
    return a.kind == Kind::kSplit && b.kind == Kind::kSplit && a.axis == b.axis;
}

bool is_ragged(const Value& value, const Sbp& entry, const Level& level) {
    return entry.grain > 1 || value.shape[static_cast<size_t>(entry.axis)] % level.count != 0;
}

}  // namespace

std::optional<Box> box(const Problem& problem, const Value& value, const Form& from, int level,
                       const Sbp& entry) {
    const auto at = static_cast<size_t>(level);
    const std::optional<Collective> collective = collective_of(from[at], entry);
    if (!collective) return std::nullopt;
    Box made{from, from, level, *collective, 0};
    made.to[at] = entry;
    if (value.only_slices && *collective != Collective::kSlice) return std::nullopt;
    if (!exists(made.to, value.shape, problem.placement, problem.cut)) return std::nullopt;
    for (size_t inner = at + 1; inner < from.size(); ++inner)
        if (cut_one_axis(from[inner], from[at]) || cut_one_axis(from[inner], entry)) return std::nullopt;
    if (holds_weights(from)) {
        const auto outermost = std::ranges::find(from, kWeights) - from.begin();
        if (outermost != level || entry.kind != Kind::kBroadcast) return std::nullopt;
    }
    // The run time transposes parts of one size only; others are gathered (distribution/spmd/exchanges.h).
    const bool gathers =
        problem.collectives == CollectiveModel::kGathered && problem.cut == facts::Cut::kRagged;
    Collective priced = *collective;
    if (gathers && priced == Collective::kReduceScatter &&
        is_ragged(value, entry, problem.placement.levels[at]))
        priced = Collective::kAllReduce;
    if (gathers && priced == Collective::kAllToAll &&
        (is_ragged(value, entry, problem.placement.levels[at]) ||
         is_ragged(value, from[at], problem.placement.levels[at])))
        priced = Collective::kAllGather;
    const auto sharers = static_cast<double>(parts(from, problem.placement, level));
    double most = 0;
    const auto add = [&](double times, int64_t bits) {
        const CollectiveTime time =
            collective_time(priced, problem.placement.levels[at], static_cast<double>(bits) / 8 / sharers,
                            problem.collectives);
        made.seconds += times * time.seconds;
        if (times * time.seconds > most) made.algorithm = time.algorithm;
        most = std::max(most, times * time.seconds);
    };
    if (value.moves.empty()) add(1, value.bits());
    for (const auto& [times, bits] : value.moves) add(times, bits);
    return made;
}

Form without_weights(Form form) {
    std::ranges::replace(form, kWeights, broadcast());
    return form;
}

bool holds_weights(const Form& form) {
    return std::ranges::find(form, kWeights) != form.end();
}

}  // namespace tessera::distribution
