#include "distribution/collectives.h"

#include <algorithm>
#include <bit>
#include <initializer_list>

#include "support/error.h"

// Sources: R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective Communication Operations in
// MPICH, 2005; J. Bruck et al., Efficient Algorithms for All-to-All Communications in Multiport
// Message-Passing Systems, 1997. p devices, s bytes, messages of alpha + beta x bytes; computing is not
// counted:
//
//   all-gather      ring                (p - 1) alpha            + (p - 1) / p beta s
//                   recursive doubling  log2(p) alpha            + (p - 1) / p beta s
//   reduce-scatter  ring, recursive halving: the same
//   all-reduce      ring                2 (p - 1) alpha          + 2 (p - 1) / p beta s
//                   halving, doubling   2 log2(p) alpha          + 2 (p - 1) / p beta s
//                   recursive doubling  log2(p) (alpha + beta s)
//   all-to-all      pairwise            (p - 1) (alpha + beta s / p^2)
//                   Bruck               log2(p) (alpha + beta s / 2p)
//
// log2 is rounded up. If p is no power of two, Bruck's gathering takes as many rounds; recursive halving and
// doubling of sums takes a round more on each side, in which all of the data moves.

namespace tessera::distribution {
namespace {

CollectiveTime least(std::initializer_list<CollectiveTime> known) {
    return *std::ranges::min_element(known, {}, &CollectiveTime::seconds);
}

// On one memory: the devices meet, and each reads what it needs.
CollectiveTime shared_time(Collective collective, const Level& level, double bytes) {
    switch (collective) {
        case Collective::kSlice:
            return {0, ""};
        case Collective::kAllGather:
        case Collective::kAllToAll:
            return {level.latency, "barrier"};
        case Collective::kReduceScatter:
            return {level.latency + level.seconds_per_byte * bytes, "shared reads"};
        case Collective::kAllReduce:
            return {2 * level.latency + level.seconds_per_byte * bytes, "shared reads"};
    }
    TESSERA_CHECK(false);
}

CollectiveTime ring_time(Collective collective, const Level& level, double bytes) {
    const auto p = static_cast<double>(level.count);
    const double piece = bytes / p;
    switch (collective) {
        case Collective::kSlice:
            return {0, ""};
        case Collective::kAllGather:
        case Collective::kReduceScatter:
            return {(p - 1) * (level.latency + level.seconds_per_byte * piece), "ring"};
        case Collective::kAllReduce:
            return {2 * (p - 1) * (level.latency + level.seconds_per_byte * piece), "ring"};
        case Collective::kAllToAll:
            return {(p - 1) * (level.latency + level.seconds_per_byte * piece / p), "pairwise"};
    }
    TESSERA_CHECK(false);
}

CollectiveTime fastest_time(Collective collective, const Level& level, double bytes) {
    const auto p = static_cast<double>(level.count);
    const auto rounds = static_cast<double>(std::bit_width(static_cast<uint64_t>(level.count - 1)));
    const bool is_power = std::has_single_bit(static_cast<uint64_t>(level.count));
    const double alpha = level.latency;
    const double all = level.seconds_per_byte * bytes;
    const double others = all * (p - 1) / p;
    const double extra = is_power ? 0 : alpha + all;  // of a round in which the surplus joins
    const CollectiveTime ring = ring_time(collective, level, bytes);
    switch (collective) {
        case Collective::kSlice:
            return ring;
        case Collective::kAllGather:
            return least({{rounds * alpha + others, is_power ? "recursive doubling" : "Bruck"}, ring});
        case Collective::kReduceScatter:
            return least({ring, {rounds * alpha + others + extra, "recursive halving"}});
        case Collective::kAllReduce:
            return least({ring,
                          {2 * rounds * alpha + 2 * others + 2 * extra, "halving and doubling"},
                          {rounds * (alpha + all) + 2 * extra, "recursive doubling"}});
        case Collective::kAllToAll:
            return least({ring, {rounds * (alpha + all / p / 2), "Bruck"}});
    }
    TESSERA_CHECK(false);
}

// The devices hold `bytes` each of a sum, which all take whole, or of which each takes the part that is its
// own.
CollectiveTime gathered_time(Collective collective, const Level& level, double bytes) {
    const double of_all = bytes * static_cast<double>(level.count);
    switch (collective) {
        case Collective::kSlice:
            return {0, ""};
        case Collective::kAllGather:
            return {fastest_time(Collective::kAllGather, level, bytes).seconds, "gather"};
        case Collective::kAllReduce:
            return {fastest_time(Collective::kAllGather, level, of_all).seconds, "gather, fold"};
        case Collective::kReduceScatter:
            return {fastest_time(Collective::kAllToAll, level, of_all).seconds, "transpose, fold"};
        case Collective::kAllToAll:
            return {fastest_time(Collective::kAllToAll, level, bytes).seconds, "transpose"};
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

CollectiveTime collective_time(Collective collective, const Level& level, double bytes,
                               CollectiveModel model) {
    if (level.shares_memory) return shared_time(collective, level, bytes);
    switch (model) {
        case CollectiveModel::kRings:
            return ring_time(collective, level, bytes);
        case CollectiveModel::kFastest:
            return fastest_time(collective, level, bytes);
        case CollectiveModel::kGathered:
            return gathered_time(collective, level, bytes);
    }
    TESSERA_CHECK(false);
}

}  // namespace tessera::distribution
