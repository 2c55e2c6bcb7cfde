#include "chip/partition/partition_plans.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/core.h>

#include "chip/partition/rotations.h"
#include "chip/partition/slicings.h"
#include "support/error.h"

// Bytes into a core while it executes:
//
//   operand on the chip      its footprint: it lies somewhere on the cores
//   rotating operand         (steps - 1) / steps of its footprint
//   partial results          (c - 1) / c of the tile's results, where c cores have parts of one sum
//   new contents of a state  the tile's results on their way to the HBM
//
// On a grid the cost is that of the busiest link on their ways (chip/partition/network_traffic.h).
//
// Space: footprints of operands, for a rotating one the part of a step and the next one that arrives (less
// the SRAM that is reserved for arriving data), and of results.

namespace tessera::partition {
namespace {

constexpr int64_t kMostSteps = 4096;
/// More than any chip has; products of counts stay below 2^63.
constexpr int64_t kMostTiles = int64_t{1} << 31;

void add_bytes(std::vector<double>& loads, const std::vector<double>& parts, int64_t bytes) {
    for (size_t a = 0; a < loads.size(); ++a) loads[a] += parts[a] * static_cast<double>(bytes);
}

double largest(const std::vector<double>& loads) {
    return *std::max_element(loads.begin(), loads.end());
}

/// Each of the cores that share an operand gets one of `parts`. The result is the distance along each axis of
/// cores with the same part; the whole axis if the operand is not shared along it.
Spread strides_of(const Spread& all, const Spread& sharing, int64_t parts) {
    Spread strides = all;
    for (size_t a = 0; a < all.size(); ++a) {
        if (sharing[a] == 1) continue;
        strides[a] = std::min(parts, sharing[a]);
        parts = tile_count(parts, sharing[a]);
    }
    return strides;
}

}  // namespace

int64_t parts_of(int64_t sharers, int64_t least, int64_t wanted) {
    int64_t best = least;
    for (const int64_t d : divisors_of(sharers))
        if (d <= wanted && d % least == 0) best = std::max(best, d);
    return best;
}

PartitionPlans::PartitionPlans(const WorkOperator& op, const chip::ChipDescription& chip, double exchange,
                               int64_t most_slicings)
    : op_(op),
      chip_(chip),
      exchange_(exchange),
      most_slicings_(most_slicings),
      footprints_(op.bound),
      cost_(op.bound, footprints_, chip),
      traffic_(chip) {}

bool PartitionPlans::is_operand(size_t tensor) const {
    return !op_.bound.is_result(static_cast<int>(tensor));
}

double PartitionPlans::link_cycles(double bytes) const {
    return bytes / chip_.chip.link_bytes_per_cycle;
}

double PartitionPlans::latency(int64_t hops) const {
    return chip_.chip.latency * static_cast<double>(hops);
}

double PartitionPlans::preload_link_cycles(const PreloadPlan& preload, int64_t preload_bytes) const {
    return std::max(link_cycles(static_cast<double>(preload_bytes)), preload.busiest_link);
}

/// The cores that share a tensor: the tiles along the iterators that it does not use.
Spread PartitionPlans::sharing_box(const std::vector<Spread>& places, size_t tensor) const {
    Spread box = traffic_.one_core();
    for (size_t i = 0; i < places.size(); ++i)
        if (!footprints_.uses(tensor, i))
            for (size_t a = 0; a < box.size(); ++a) box[a] *= places[i][a];
    return box;
}

int64_t PartitionPlans::hbm_bytes() const {
    int64_t bytes = 0;
    for (size_t t = 0; t < op_.places.size(); ++t)
        if (op_.places[t] == Place::kHbm && is_operand(t)) bytes += footprints_.touched_bytes(t);
    return bytes;
}

int64_t PartitionPlans::stored_bytes() const {
    int64_t bytes = 0;
    for (size_t t = 0; t < op_.places.size(); ++t)
        if (op_.places[t] == Place::kHbm && !is_operand(t)) bytes += footprints_.touched_bytes(t);
    return bytes;
}

ExecutePlan PartitionPlans::plan_of(const TileSizes& sizes, int64_t steps, size_t along, uint32_t rotating,
                                    const std::vector<Spread>& places) const {
    ExecutePlan plan{.sizes = sizes, .steps = steps, .along = along, .rotating = rotating};
    Spread all = traffic_.one_core(), adding = all;
    int64_t adders = 1;
    for (size_t i = 0; i < sizes.size(); ++i) {
        const int64_t count = tile_count(op_.bound.extents.iterators[i], sizes[i]);
        const bool is_reduction = op_.bound.definition.iterators[i].is_reduction;
        plan.tiles *= count;
        if (is_reduction) adders *= count;
        for (size_t a = 0; a < all.size(); ++a) {
            all[a] *= places[i][a];
            if (is_reduction) adding[a] *= places[i][a];
        }
    }
    TileSizes step = sizes;
    if (steps > 1) step[along] = tile_count(sizes[along], steps);
    // Operands come in at the same time, and so do results go out: each group waits for one latency.
    std::vector<double> fetched(traffic_.axes(), 0), rotated = fetched;
    int64_t fetch_hops = 0, rotation_hops = 0, result_bytes = 0, result_elements = 0, stored = 0,
            arriving = 0;
    for (size_t t = 0; t < op_.places.size(); ++t) {
        const int64_t whole = footprints_.bytes(t, sizes);
        const bool is_hbm = op_.places[t] == Place::kHbm;
        if (!is_operand(t)) {
            plan.exec_bytes += whole;
            result_bytes += whole;
            result_elements += footprints_.elements(t, sizes);
            if (is_hbm) stored += whole;
            continue;
        }
        const bool rotates = rotates_in(rotating, t);
        const int64_t held = rotates ? footprints_.bytes(t, step) : whole;
        plan.exec_bytes += held;
        if (rotates) arriving += held;
        if (held == 0 || (is_hbm && !rotates)) continue;
        const Spread box = sharing_box(places, t);
        if (rotates) {
            plan.shift_bytes += held * (steps - 1);
            // To the next core in every step, and once from the last one to the first.
            rotation_hops = std::max(rotation_hops, traffic_.ring_hops(box, steps));
            add_bytes(rotated, traffic_.to_next(box), held * (steps - 1));
        }
        if (is_hbm) continue;
        plan.shift_bytes += held;
        const bool is_shared = !rotates && footprints_.sharers(t, sizes) > 1;
        fetch_hops = std::max(fetch_hops, traffic_.hops(is_shared ? box : all));
        add_bytes(fetched, is_shared ? traffic_.gathered(box) : traffic_.to_next(all), held);
    }
    plan.exec_bytes += std::max<int64_t>(0, arriving - chip_.reserved_bytes);
    const double rotation = link_cycles(largest(rotated)) + latency(rotation_hops);
    plan.shift = link_cycles(largest(fetched)) + rotation;
    // The part of the next step is on its way while that of a step is used, but in the last step.
    const double tile = cost_.cycles(step);
    plan.hidden = std::min(rotation, tile * static_cast<double>(steps - 1));
    // No link is used while the last byte is on its way.
    plan.compute = tile * static_cast<double>(steps) - plan.hidden + exchange_ + latency(fetch_hops);
    if (adders > 1) {
        // Each element is added on one core, which gets the others' parts of it.
        const int64_t shares = std::min(adders, result_elements), part = tile_count(result_bytes, shares);
        plan.shift_bytes += (adders - 1) * part;
        plan.compute += static_cast<double>(tile_count(result_elements, shares) * (adders - 1)) /
                            chip_.vector.flops_per_cycle +
                        latency(traffic_.hops(adding));
        plan.shift += link_cycles(traffic_.exchanged(adding, shares) * static_cast<double>(part));
    }
    if (stored > 0) {
        plan.shift_bytes += stored;
        const double ports = static_cast<double>(stored * plan.tiles) / chip_.hbm_port_bytes_per_cycle();
        const double link = link_cycles(static_cast<double>(stored));
        plan.shift += link;
        plan.compute += latency(traffic_.hbm_hops()) + chip_.hbm_latency() + std::max(0.0, ports - link);
    }
    return plan;
}

/// True if the steps are equal, and every rotating operand divides into equal parts that do not overlap.
bool PartitionPlans::can_rotate(const TileSizes& sizes, int64_t steps, size_t along,
                                uint32_t rotating) const {
    if (sizes[along] % steps != 0) return false;
    TileSizes step = sizes;
    step[along] /= steps;
    for (size_t t = 0; t < op_.places.size(); ++t)
        if (rotates_in(rotating, t) &&
            footprints_.elements(t, step) * steps != footprints_.elements(t, sizes))
            return false;
    return true;
}

void PartitionPlans::visit_rotations(const TileSizes& sizes,
                                     const std::function<void(const ExecutePlan&)>& visit) const {
    // A plan without a place fits nowhere, whatever its costs.
    const std::vector<Spread> places =
        places_of(sizes).value_or(std::vector<Spread>(sizes.size(), traffic_.one_core()));
    visit(plan_of(sizes, 1, 0, 0, places));
    for (size_t i = 0; i < sizes.size(); ++i) {
        if (sizes[i] == 1) continue;
        std::vector<size_t> shared;
        for (size_t t = 0; t < op_.places.size() && t < 32; ++t)
            if (is_operand(t) && footprints_.uses(t, i) && footprints_.sharers(t, sizes) > 1)
                shared.push_back(t);
        for (uint32_t chosen = 1; chosen < (1U << std::min<size_t>(shared.size(), 8)); ++chosen) {
            int64_t common = 0;
            uint32_t rotating = 0;
            for (size_t s = 0; s < shared.size(); ++s) {
                if (((chosen >> s) & 1) == 0) continue;
                common = std::gcd(common, footprints_.sharers(shared[s], sizes));
                rotating |= 1U << shared[s];
            }
            for (const int64_t steps : divisors_of(common))
                if (steps > 1 && steps <= kMostSteps && can_rotate(sizes, steps, i, rotating))
                    visit(plan_of(sizes, steps, i, rotating, places));
        }
    }
}

void PartitionPlans::for_each(const std::function<void(const ExecutePlan&)>& visit) const {
    const std::vector<int64_t>& extents = op_.bound.extents.iterators;
    TileSizes sizes(extents.size(), 1);
    int64_t slicings = 0;
    const std::function<void(size_t, int64_t)> choose = [&](size_t i, int64_t cores) {
        if (i == extents.size()) {
            if (++slicings > most_slicings_)
                throw Error(
                    op_.bound.where, op_.name,
                    fmt::format("has more than {} slicings on {} cores", most_slicings_, chip_.chip.cores),
                    "take a chip of fewer cores, or an operator of fewer iterators");
            visit_rotations(sizes, visit);
            return;
        }
        for (const int64_t size : sizes_along(extents[i], cores)) {
            sizes[i] = size;
            choose(i + 1, cores / tile_count(extents[i], size));
        }
    };
    choose(0, chip_.chip.cores);
}

std::optional<std::vector<Spread>> PartitionPlans::places_of(const TileSizes& sizes) const {
    std::vector<int64_t> counts;
    for (size_t i = 0; i < sizes.size(); ++i)
        counts.push_back(tile_count(op_.bound.extents.iterators[i], sizes[i]));
    return traffic_.places(counts);
}

bool PartitionPlans::fits(const ExecutePlan& plan) const {
    return plan.exec_bytes <= chip_.chip.sram_bytes && places_of(plan.sizes);
}

bool PartitionPlans::can_execute(const ExecutePlan& plan) const {
    return rotation_fault(op_.bound, plan, chip_).empty();
}

ExecutePlan PartitionPlans::execution_of(const StatedPlan& stated, const std::string& where,
                                         const std::string& place) const {
    int64_t tiles = 1;
    for (size_t i = 0; i < stated.sizes.size(); ++i)
        tiles = std::min(kMostTiles, tiles * tile_count(op_.bound.extents.iterators[i], stated.sizes[i]));
    if (tiles > chip_.chip.cores)
        throw Error(where, place,
                    fmt::format("cuts {} into {} tiles, and the chip has {} cores", op_.name, tiles,
                                chip_.chip.cores));
    if (!places_of(stated.sizes))
        throw Error(
            where, place,
            fmt::format("cuts {} into tiles that have no place on the grid: every iterator that is cut "
                        "needs axes of its own with enough cores",
                        op_.name));
    std::optional<ExecutePlan> found;
    visit_rotations(stated.sizes, [&](const ExecutePlan& plan) {
        if (plan.steps == stated.steps && plan.along == stated.along && plan.rotating == stated.rotating)
            found = plan;
    });
    if (!found)
        throw Error(where, place,
                    fmt::format("rotates operands of {} in {} steps: no rotation of it along {} has these",
                                op_.name, stated.steps, op_.bound.definition.iterators[stated.along].name),
                    "the steps divide the tile and the cores that share each operand");
    if (const std::string fault = rotation_fault(op_.bound, *found, chip_); !fault.empty())
        throw Error(where, place, fmt::format("of {} {}, and cannot be executed", op_.name, fault));
    return *found;
}

int64_t PartitionPlans::least_preload_bytes(const ExecutePlan& plan) const {
    TileSizes step = plan.sizes;
    if (plan.steps > 1) step[plan.along] = tile_count(step[plan.along], plan.steps);
    int64_t bytes = 0;
    for (size_t t = 0; t < op_.places.size(); ++t)
        if (op_.places[t] == Place::kHbm && is_operand(t))
            bytes += footprints_.bytes(t, rotates_in(plan.rotating, t) ? step : plan.sizes);
    return bytes;
}

std::vector<PreloadPlan> PartitionPlans::preloads(const ExecutePlan& plan) const {
    struct Operand {
        int64_t whole, held, sharers, least, touched;
        Spread box;
    };
    const std::vector<Spread> places =
        places_of(plan.sizes).value_or(std::vector<Spread>(plan.sizes.size(), traffic_.one_core()));
    Spread all = traffic_.one_core();
    for (const Spread& place : places)
        for (size_t a = 0; a < all.size(); ++a) all[a] *= place[a];
    std::vector<Operand> operands;
    std::vector<int64_t> wanted;
    for (size_t t = 0; t < op_.places.size(); ++t) {
        if (op_.places[t] != Place::kHbm || !is_operand(t)) continue;
        Operand operand{footprints_.bytes(t, plan.sizes),   footprints_.bytes(t, plan.sizes),
                        footprints_.sharers(t, plan.sizes), 1,
                        footprints_.touched_bytes(t),       sharing_box(places, t)};
        if (rotates_in(plan.rotating, t)) {
            operand.least = plan.steps;
            operand.held = tile_count(operand.whole, plan.steps);
        }
        for (const int64_t d : divisors_of(operand.sharers)) wanted.push_back(d);
        operands.push_back(operand);
    }
    if (operands.empty()) return {PreloadPlan{}};
    std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    std::vector<PreloadPlan> result;
    for (const int64_t parts : wanted) {
        PreloadPlan preload;
        int64_t hops = 0, distribute_hops = 0;
        for (const Operand& operand : operands) {
            const int64_t own = parts_of(operand.sharers, operand.least, parts);
            const int64_t bytes = tile_count(operand.whole, own);
            preload.parts = std::max(preload.parts, own);
            preload.preload_bytes += bytes;
            preload.distribute_bytes += std::max<int64_t>(0, operand.held - bytes);
            preload.busiest_link += link_cycles(static_cast<double>(operand.touched) *
                                                traffic_.delivered(all, strides_of(all, operand.box, own)));
            const bool is_shared = own < operand.sharers;
            hops = std::max(hops, is_shared && chip_.chip.is_grid() ? traffic_.hops(operand.box) : 0);
            distribute_hops = std::max(distribute_hops,
                                       std::min(std::max<int64_t>(own - 1, 1), traffic_.hops(operand.box)));
        }
        preload.latency = latency(traffic_.hbm_hops() + hops);
        if (preload.distribute_bytes > 0) {
            preload.distribute = link_cycles(static_cast<double>(preload.distribute_bytes));
            preload.distribute_latency = latency(chip_.chip.is_grid() ? distribute_hops : 2);
        }
        if (result.empty() || preload.preload_bytes < result.back().preload_bytes) result.push_back(preload);
    }
    return result;
}

}  // namespace tessera::partition
