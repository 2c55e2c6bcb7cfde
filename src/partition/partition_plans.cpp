#include "partition/partition_plans.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "partition/slicings.h"
#include "support/error.h"

// Bytes into a core while it executes:
//
//   operand on the chip      its footprint: it lies somewhere on the cores
//   rotating operand         (steps - 1) / steps of its footprint
//   partial results          (c - 1) / c of the tile's results, where c cores have parts of one sum
//   new contents of a state  the tile's results on their way to the HBM
//
// Space: footprints of operands, of a rotating one the part of a step (and a second one where no SRAM is
// reserved for what arrives), and of results.

namespace tessera::partition {
namespace {

constexpr int64_t kMostSteps = 4096;

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
      cost_(op.bound, footprints_, chip) {}

bool PartitionPlans::is_operand(size_t tensor) const {
    return !op_.bound.is_result(static_cast<int>(tensor));
}

int64_t PartitionPlans::rounds_across() const {
    if (!chip_.chip.is_grid()) return 1;
    int64_t links = 0;
    for (const int64_t extent : chip_.shape)
        links += chip_.chip.topology == chip::Topology::kTorus ? extent / 2 : extent - 1;
    return std::max<int64_t>(1, links);
}

double PartitionPlans::link_cycles(int64_t bytes, int64_t rounds) const {
    if (bytes == 0) return 0;
    // To the switch and from it, or between neighbours.
    const double latency = chip_.chip.latency * (chip_.chip.is_grid() ? 1 : 2);
    return static_cast<double>(bytes) / chip_.chip.link_bytes_per_cycle +
           latency * static_cast<double>(rounds);
}

double PartitionPlans::preload_link_cycles(int64_t preload_bytes) const {
    const double into_core = static_cast<double>(preload_bytes) / chip_.chip.link_bytes_per_cycle;
    if (!chip_.chip.is_grid() || preload_bytes == 0) return into_core;
    // On a grid all data passes the links behind the ports, once for all cores that it is for.
    double ports = 0;
    for (const chip::HbmController& each : chip_.chip.hbm)
        ports += static_cast<double>(each.at.size()) *
                 std::min(each.port_bytes_per_cycle, chip_.chip.link_bytes_per_cycle);
    return std::max(into_core, static_cast<double>(hbm_bytes()) / ports);
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

ExecutePlan PartitionPlans::plan_of(const TileSizes& sizes, int64_t steps, size_t along,
                                    uint32_t rotating) const {
    const std::vector<int64_t>& extents = op_.bound.extents.iterators;
    ExecutePlan plan{.sizes = sizes, .steps = steps, .along = along, .rotating = rotating};
    int64_t adders = 1;
    for (size_t i = 0; i < sizes.size(); ++i) {
        const int64_t count = tile_count(extents[i], sizes[i]);
        plan.tiles *= count;
        if (op_.bound.definition.iterators[i].is_reduction) adders *= count;
    }
    TileSizes step = sizes;
    if (steps > 1) step[along] = tile_count(sizes[along], steps);
    // Operands come in at the same time, and so do results go out: each waits for one latency.
    int64_t rounds = 0, fetches = 0, stores = 0, result_bytes = 0, result_elements = 0;
    for (size_t t = 0; t < op_.places.size(); ++t) {
        const int64_t whole = footprints_.bytes(t, sizes);
        const bool is_hbm = op_.places[t] == Place::kHbm;
        if (!is_operand(t)) {
            plan.exec_bytes += whole;
            result_bytes += whole;
            result_elements += footprints_.elements(t, sizes);
            if (is_hbm) {
                plan.shift_bytes += whole;
                stores = rounds_across();
            }
            continue;
        }
        int64_t held = whole;
        if (rotates_in(rotating, t)) {
            held = footprints_.bytes(t, step);
            plan.exec_bytes += chip_.reserved_bytes == 0 ? 2 * held : held;
            plan.shift_bytes += held * (steps - 1);
            rounds += steps - 1;
        } else {
            plan.exec_bytes += held;
        }
        if (!is_hbm && held > 0) {
            plan.shift_bytes += held;
            fetches = rounds_across();
        }
    }
    plan.compute = cost_.cycles(step) * static_cast<double>(steps) + exchange_;
    if (stores > 0) plan.compute += chip_.hbm_latency();
    if (adders > 1) {
        // Each element is added on one core, which gets the others' parts of it.
        const int64_t shares = std::min(adders, result_elements);
        plan.shift_bytes += (adders - 1) * tile_count(result_bytes, shares);
        rounds += chip_.chip.is_grid() ? adders - 1 : 1;
        plan.compute += static_cast<double>(tile_count(result_elements, shares) * (adders - 1)) /
                        chip_.vector.flops_per_cycle;
    }
    plan.shift = link_cycles(plan.shift_bytes, rounds + fetches + stores);
    return plan;
}

/// Whether the steps are equal, and every rotating operand falls into equal parts with nothing in common.
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
    visit(plan_of(sizes, 1, 0, 0));
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
                    visit(plan_of(sizes, steps, i, rotating));
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

bool PartitionPlans::has_place(const TileSizes& sizes) const {
    if (!chip_.chip.is_grid()) return true;
    std::vector<int64_t> counts;
    for (size_t i = 0; i < sizes.size(); ++i)
        counts.push_back(tile_count(op_.bound.extents.iterators[i], sizes[i]));
    return axes_of_iterators(counts, chip_.shape).has_value();
}

bool PartitionPlans::fits(const ExecutePlan& plan) const {
    return plan.exec_bytes <= chip_.chip.sram_bytes && has_place(plan.sizes);
}

std::vector<ExecutePlan> PartitionPlans::front(PlanCounts& counts) const {
    // The bytes of a plan that is better by nothing but sharing decide draws.
    struct Candidate {
        ExecutePlan plan;
        int64_t preload_bytes;
    };
    std::vector<Candidate> best;  // a front at any time, by growing space, so by falling time
    const auto shared_bytes = [&](const ExecutePlan& plan) {
        int64_t bytes = 0;
        for (size_t t = 0; t < op_.places.size(); ++t)
            if (op_.places[t] == Place::kHbm && is_operand(t))
                bytes += tile_count(footprints_.bytes(t, plan.sizes), footprints_.sharers(t, plan.sizes));
        return bytes;
    };
    const auto key = [](const Candidate& c) {
        return std::tuple(c.plan.exec_bytes, c.plan.time(), c.plan.shift, c.preload_bytes);
    };
    TileSizes last;
    for_each([&](const ExecutePlan& plan) {
        ++counts.plans;
        if (plan.steps == 1) ++counts.slicings;
        if (!fits(plan)) return;
        ++counts.fitting;
        const auto at =
            std::lower_bound(best.begin(), best.end(), plan.exec_bytes,
                             [](const Candidate& c, int64_t bytes) { return c.plan.exec_bytes < bytes; });
        if (at != best.begin() && std::prev(at)->plan.time() <= plan.time()) return;
        if (at != best.end() && at->plan.exec_bytes == plan.exec_bytes && at->plan.time() < plan.time())
            return;
        Candidate candidate{plan, shared_bytes(plan)};
        if (at != best.end() && at->plan.exec_bytes == plan.exec_bytes && key(*at) <= key(candidate)) return;
        auto end = at;
        while (end != best.end() && end->plan.time() >= plan.time()) ++end;
        best.insert(best.erase(at, end), std::move(candidate));
    });
    std::vector<ExecutePlan> result;
    for (auto each = best.rbegin(); each != best.rend(); ++each) result.push_back(std::move(each->plan));
    counts.front += static_cast<int64_t>(result.size());
    return result;
}

std::vector<PreloadPlan> PartitionPlans::preloads(const ExecutePlan& plan) const {
    struct Operand {
        int64_t whole, held, sharers, least;
    };
    std::vector<Operand> operands;
    std::vector<int64_t> wanted;
    for (size_t t = 0; t < op_.places.size(); ++t) {
        if (op_.places[t] != Place::kHbm || !is_operand(t)) continue;
        Operand operand{footprints_.bytes(t, plan.sizes), footprints_.bytes(t, plan.sizes),
                        footprints_.sharers(t, plan.sizes), 1};
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
        for (const Operand& operand : operands) {
            const int64_t own = parts_of(operand.sharers, operand.least, parts);
            const int64_t bytes = tile_count(operand.whole, own);
            preload.parts = std::max(preload.parts, own);
            preload.preload_bytes += bytes;
            preload.distribute_bytes += std::max<int64_t>(0, operand.held - bytes);
        }
        preload.distribute =
            link_cycles(preload.distribute_bytes, chip_.chip.is_grid() ? preload.parts - 1 : 1);
        if (result.empty() || preload.preload_bytes < result.back().preload_bytes) result.push_back(preload);
    }
    return result;
}

}  // namespace tessera::partition
