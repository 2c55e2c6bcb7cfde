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

// The alpha-beta model, of rings. `bytes`: of the source, if this level did not cut.
double seconds_of(Collective collective, const Level& level, double bytes) {
    const auto p = static_cast<double>(level.count);
    const double piece = bytes / p;
    switch (collective) {
        case Collective::kSlice:
            return 0;
        case Collective::kAllGather:
        case Collective::kReduceScatter:
            return (p - 1) * (level.latency + level.seconds_per_byte * piece);
        case Collective::kAllReduce:
            return 2 * (p - 1) * (level.latency + level.seconds_per_byte * piece);
        case Collective::kAllToAll:
            return (p - 1) * (level.latency + level.seconds_per_byte * piece / p);
    }
    TESSERA_CHECK(false);
}

}  // namespace

std::string_view name(Collective collective) {
    switch (collective) {
        case Collective::kSlice:
            return "slice";
        case Collective::kAllGather:
            return "all-gather";
        case Collective::kAllToAll:
            return "all-to-all";
        case Collective::kReduceScatter:
            return "reduce-scatter";
        case Collective::kAllReduce:
            return "all-reduce";
    }
    TESSERA_CHECK(false);
}

std::optional<Box> box(const Problem& problem, const Value& value, const Form& from, int level,
                       const Sbp& entry) {
    const auto at = static_cast<size_t>(level);
    const std::optional<Collective> collective = collective_of(from[at], entry);
    if (!collective) return std::nullopt;
    Box made{from, from, level, *collective, 0};
    made.to[at] = entry;
    if (!exists(made.to, value.shape, problem.placement)) return std::nullopt;
    for (size_t inner = at + 1; inner < from.size(); ++inner)
        if (from[inner].kind == Kind::kSplit && (from[inner] == from[at] || from[inner] == entry))
            return std::nullopt;
    if (holds_weights(from)) {
        const auto outermost = std::ranges::find(from, kWeights) - from.begin();
        if (outermost != level || entry.kind != Kind::kBroadcast) return std::nullopt;
    }
    const double bytes =
        static_cast<double>(value.bits()) / 8 / static_cast<double>(parts(from, problem.placement, level));
    made.seconds = seconds_of(*collective, problem.placement.levels[at], bytes);
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
