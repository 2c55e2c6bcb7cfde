#include "distribution/spmd/box_exchange.h"

#include "support/error.h"

namespace tessera::spmd {
namespace {

using distribution::Collective;
using distribution::Sbp;

/// The beginnings of the parts of an axis, then its end.
std::vector<int64_t> starts_of(const distribution::Value& value, const Sbp& entry, int64_t ranks) {
    const int64_t extent = value.shape[static_cast<size_t>(entry.axis)];
    std::vector<int64_t> starts;
    for (int64_t r = 0; r < ranks; ++r)
        starts.push_back(facts::part_of({0, extent}, ranks, r, entry.grain).first);
    starts.push_back(extent);
    return starts;
}

bool is_ragged(const distribution::Value& value, const Sbp& entry, int64_t ranks) {
    return entry.grain > 1 || value.shape[static_cast<size_t>(entry.axis)] % ranks != 0;
}

}  // namespace

std::optional<BoxExchange> box_exchange(const distribution::Problem& problem,
                                        const distribution::Value& value, const distribution::Box& box) {
    TESSERA_CHECK(problem.placement.rank() == 1);
    if (box.collective == Collective::kSlice) return std::nullopt;
    const int64_t ranks = problem.placement.levels[0].count;
    const Sbp &from = box.from[0], &to = box.to[0];
    distribution::Value at_point = value;
    if (!value.moves.empty()) at_point.moves = {{1, value.moves.front().second}};
    const int64_t bits = at_point.moves.empty() ? value.bits() : at_point.moves.front().second;
    BoxExchange made;
    made.seconds = distribution::box(problem, at_point, box.from, 0, to)->seconds;
    const bool is_cut_anew = to.kind == Sbp::Kind::kSplit && to.axis == from.axis;
    if (from.kind == Sbp::Kind::kSplit &&
        (to.kind != Sbp::Kind::kSplit || is_cut_anew || is_ragged(value, from, ranks))) {
        made.call = "place";
        int64_t inner = tessera::bits(value.type);
        for (size_t a = static_cast<size_t>(from.axis) + 1; a < value.shape.size(); ++a)
            inner *= value.shape[a];
        for (const int64_t start : starts_of(value, from, ranks)) made.starts.push_back(start * inner / 8);
        made.rows = bits / 8 / made.starts.back();
        return made;
    }
    const int64_t part = from.kind == Sbp::Kind::kSplit ? bits / ranks : bits;
    const bool transposes = to.kind == Sbp::Kind::kSplit && !is_ragged(value, to, ranks);
    made.call = transposes ? "transpose" : "gather";
    made.part_bytes = (transposes ? part / ranks : part) / 8;
    return made;
}

}  // namespace tessera::spmd
