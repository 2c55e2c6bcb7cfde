#include "chip/partition/chip_part.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "chip/partition/footprints.h"
#include "ir/facts/share.h"

namespace tessera::partition {
namespace {

/// The part of a chip if the operator is cut there, and the bytes that it holds afterwards.
struct Cut {
    ChipPart part;
    HeldBytes holds;
    int64_t iterations = 1;
};

Cut cut_at(const WorkOperator& op, const Footprints& whole, std::optional<size_t> cut, const chip::Pod& pod,
           const HeldBytes& held) {
    Cut result;
    result.part.op = op;
    result.part.cut = cut;
    facts::IterationBox box = facts::whole_box(op.bound);
    int64_t parts = 1;
    if (cut) {
        box[*cut].last = tile_count(box[*cut].last, pod.chips);
        parts = tile_count(op.bound.extents.iterators[*cut], box[*cut].last);
        result.part.op.bound = facts::restricted_to(op.bound, box);
    }
    for (const facts::Range& range : box) result.iterations *= range.size();
    const Footprints own(result.part.op.bound);
    const bool adds = cut && op.bound.definition.iterators[*cut].is_reduction;
    for (size_t t = 0; t < op.places.size(); ++t) {
        const int64_t needed = own.touched_bytes(t);
        if (op.bound.is_result(static_cast<int>(t))) {
            if (adds) result.part.exchange_bytes += tile_count(needed * (parts - 1), parts);
            result.holds[op.values[t]] = adds ? tile_count(needed, parts) : needed;
        } else if (op.places[t] == Place::kHbm) {
            result.part.hbm_bytes += needed;
        } else {
            const auto known = held.find(op.values[t]);
            const int64_t has =
                known != held.end() ? known->second : tile_count(whole.touched_bytes(t), pod.chips);
            result.part.exchange_bytes += std::max<int64_t>(0, needed - has);
            result.holds[op.values[t]] = std::max(needed, has);
        }
    }
    if (result.part.exchange_bytes > 0)
        result.part.exchange =
            static_cast<double>(result.part.exchange_bytes) / pod.bytes_per_cycle + pod.latency;
    return result;
}

}  // namespace

ChipPart chip_part(const WorkOperator& op, const chip::ChipDescription& chip, HeldBytes& held) {
    const Footprints whole(op.bound);
    if (chip.pod.chips == 1) {
        ChipPart part{.op = op, .cut = std::nullopt};
        for (size_t t = 0; t < op.places.size(); ++t)
            if (op.places[t] == Place::kHbm && !op.bound.is_result(static_cast<int>(t)))
                part.hbm_bytes += whole.touched_bytes(t);
        return part;
    }
    const auto cost = [&](const Cut& each) {
        const double reading = static_cast<double>(each.part.hbm_bytes) / chip.hbm_bytes_per_cycle();
        return std::tuple(reading + each.part.exchange, each.iterations);
    };
    Cut best = cut_at(op, whole, std::nullopt, chip.pod, held);
    for (size_t i = 0; i < op.bound.extents.iterators.size(); ++i) {
        if (op.bound.extents.iterators[i] == 1) continue;
        Cut other = cut_at(op, whole, i, chip.pod, held);
        if (cost(other) < cost(best)) best = std::move(other);
    }
    for (const auto& [value, bytes] : best.holds) held[value] = std::max(held[value], bytes);
    return std::move(best.part);
}

}  // namespace tessera::partition
