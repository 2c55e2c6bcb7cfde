#include "partition/device_plan.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/core.h>

#include "facts/tiles.h"
#include "partition/slicings.h"
#include "support/error.h"

namespace tessera::partition {
namespace {

using chip::Transfer;
using chip::TransferKind;

struct PlacedTile {
    std::vector<int64_t> place;  ///< along each iterator
    facts::IterationBox box;
    int32_t core = 0;
};

/// Makes the program of one operator in one of its rows.
class OperatorProgram {
public:
    OperatorProgram(const PlannedOperator& op, const chip::Row& costs, const PlannedRow& row,
                    const chip::ChipDescription& chip)
        : op_(op), costs_(costs), row_(row), plan_(row.execute), chip_(chip), footprints_(op.op.bound) {}

    chip::ProgramOperator make() {
        place_tiles();
        for (size_t t = 0; t < op_.op.places.size(); ++t) {
            const bool is_result = op_.op.bound.is_result(static_cast<int>(t));
            const bool is_hbm = op_.op.places[t] == Place::kHbm;
            if (is_result && is_hbm) store(t);
            if (is_result) continue;
            for (const std::vector<size_t>& group : sharing_tiles(t)) {
                if (is_hbm)
                    preload(t, group);
                else
                    fetch(t, group);
                if (rotates_in(plan_.rotating, t)) rotate(t, group);
            }
        }
        compute();
        reduce();
        const auto cores = static_cast<size_t>(chip_.chip.cores);
        made_.preload_bytes.assign(cores, 0);
        made_.execute_bytes.assign(cores, 0);
        for (const PlacedTile& tile : tiles_) {
            made_.preload_bytes[static_cast<size_t>(tile.core)] = costs_.preload_bytes;
            made_.execute_bytes[static_cast<size_t>(tile.core)] = costs_.exec_bytes;
        }
        return std::move(made_);
    }

private:
    std::vector<int64_t> tile_counts() const {
        std::vector<int64_t> counts;
        for (size_t i = 0; i < op_.extents.size(); ++i)
            counts.push_back(tile_count(op_.extents[i], plan_.sizes[i]));
        return counts;
    }

    void place_tiles() {
        const std::vector<int64_t> counts = tile_counts();
        for (int64_t number = 0; number < plan_.tiles; ++number) {
            PlacedTile tile;
            int64_t rest = number;
            for (size_t i = 0; i < counts.size(); ++i) {
                const int64_t at = rest % counts[i];
                rest /= counts[i];
                tile.place.push_back(at);
                tile.box.push_back(
                    {at * plan_.sizes[i], std::min(op_.extents[i], (at + 1) * plan_.sizes[i])});
            }
            tile.core = core_of(tile.place, counts, number);
            tiles_.push_back(std::move(tile));
        }
    }

    int32_t core_of(const std::vector<int64_t>& place, const std::vector<int64_t>& counts,
                    int64_t number) const {
        if (!chip_.chip.is_grid()) return static_cast<int32_t>(number);
        const auto axes = axes_of_iterators(counts, chip_.shape);
        TESSERA_CHECK(axes.has_value(), "{}", op_.op.name);
        std::vector<int64_t> at(chip_.shape.size(), 0);
        for (size_t i = 0; i < place.size(); ++i) {
            int64_t rest = place[i];
            for (size_t a = 0; a < at.size(); ++a) {
                if ((((*axes)[i] >> a) & 1) == 0) continue;
                at[a] = rest % chip_.shape[a];
                rest /= chip_.shape[a];
            }
        }
        int64_t core = 0;
        for (size_t a = 0; a < at.size(); ++a) core = core * chip_.shape[a] + at[a];
        return static_cast<int32_t>(core);
    }

    /// Tiles that touch the same elements of a tensor, group by group.
    std::vector<std::vector<size_t>> sharing_tiles(size_t tensor) const {
        std::map<std::vector<int64_t>, std::vector<size_t>> groups;
        for (size_t k = 0; k < tiles_.size(); ++k) {
            const facts::Footprint touched = facts::tile_footprints(op_.op.bound, tiles_[k].box)[tensor];
            std::vector<int64_t> key = touched.origin;
            key.insert(key.end(), touched.extent.begin(), touched.extent.end());
            key.push_back(touched.elements);
            groups[key].push_back(k);
        }
        std::vector<std::vector<size_t>> result;
        for (auto& [key, tiles] : groups) result.push_back(std::move(tiles));
        return result;
    }

    int32_t core(const std::vector<size_t>& group, size_t j) const { return tiles_[group[j]].core; }
    std::vector<Transfer>& list(TransferKind kind) { return made_.transfers[static_cast<size_t>(kind)]; }
    void add(TransferKind kind, int32_t from, std::vector<int32_t> to, int64_t bytes, int64_t step = 0) {
        std::erase(to, kind == TransferKind::kPreload || kind == TransferKind::kStore ? -1 : from);
        if (bytes > 0 && !to.empty()) list(kind).push_back({from, std::move(to), bytes, step});
    }

    void preload(size_t tensor, const std::vector<size_t>& group) {
        const bool rotates = rotates_in(plan_.rotating, tensor);
        const auto least = static_cast<size_t>(rotates ? plan_.steps : 1);
        const int64_t sharers = footprints_.sharers(tensor, plan_.sizes);
        const auto parts =
            static_cast<size_t>(parts_of(sharers, static_cast<int64_t>(least), row_.preload.parts));
        const int64_t bytes = tile_count(footprints_.bytes(tensor, plan_.sizes), static_cast<int64_t>(parts));
        for (size_t part = 0; part < parts; ++part) {
            std::vector<int32_t> holders;
            for (size_t j = part; j < group.size(); j += parts) holders.push_back(core(group, j));
            add(TransferKind::kPreload, 0, holders, bytes);
            // The others of its own step, or all others, get the part from a holder near them.
            std::map<int32_t, std::vector<int32_t>> receivers;
            for (size_t j = 0; j < group.size(); ++j) {
                if (j % parts == part || (rotates && j % least != part % least)) continue;
                receivers[holders[j / parts % holders.size()]].push_back(core(group, j));
            }
            for (auto& [from, to] : receivers) add(TransferKind::kDistribute, from, std::move(to), bytes);
        }
    }

    void fetch(size_t tensor, const std::vector<size_t>& group) {
        TileSizes step = plan_.sizes;
        if (rotates_in(plan_.rotating, tensor))
            step[plan_.along] = tile_count(step[plan_.along], plan_.steps);
        const int64_t bytes = footprints_.bytes(tensor, step);
        if (group.size() == 1 || rotates_in(plan_.rotating, tensor)) {
            for (const size_t k : group)
                add(TransferKind::kDistribute, tiles_[(k + 1) % tiles_.size()].core, {tiles_[k].core}, bytes);
            return;
        }
        // Each of the first ones has an even part of whole elements.
        const int64_t holders =
            std::min(static_cast<int64_t>(group.size()), footprints_.elements(tensor, plan_.sizes));
        std::vector<int32_t> all;
        for (size_t j = 0; j < group.size(); ++j) all.push_back(core(group, j));
        for (int64_t j = 0; j < holders; ++j)
            add(TransferKind::kDistribute, core(group, static_cast<size_t>(j)), all,
                tile_count(bytes, holders));
    }

    void rotate(size_t tensor, const std::vector<size_t>& group) {
        TileSizes step = plan_.sizes;
        step[plan_.along] = tile_count(step[plan_.along], plan_.steps);
        const int64_t bytes = footprints_.bytes(tensor, step);
        const auto ring = static_cast<size_t>(plan_.steps);
        for (int64_t s = 0; s + 1 < plan_.steps; ++s)
            for (size_t j = 0; j < group.size(); ++j) {
                const size_t first = j / ring * ring, size = std::min(ring, group.size() - first);
                add(TransferKind::kShift, core(group, j), {core(group, first + (j - first + 1) % size)},
                    bytes, s);
            }
    }

    void compute() {
        const std::string unit = op_.uses_matrix_unit ? "matrix" : "vector";
        const auto found = std::find_if(chip_.chip.units.begin(), chip_.chip.units.end(),
                                        [&](const chip::ComputeUnit& each) { return each.name == unit; });
        const auto index = static_cast<size_t>(found - chip_.chip.units.begin());
        const TileCost cost(op_.op.bound, footprints_, chip_);
        for (const PlacedTile& tile : tiles_) {
            TileSizes own;
            for (const facts::Range& range : tile.box) own.push_back(range.size());
            if (plan_.steps > 1) own[plan_.along] = tile_count(own[plan_.along], plan_.steps);
            const double cycles = cost.cycles(own) + op_.exchange / static_cast<double>(plan_.steps);
            const int64_t flops = std::max<int64_t>(1, std::llround(cycles * found->flops_per_cycle));
            for (int64_t s = 0; s < plan_.steps; ++s) made_.tiles.push_back({s, tile.core, index, flops});
        }
    }

    void reduce() {
        const Definition& definition = op_.op.bound.definition;
        std::map<std::vector<int64_t>, std::vector<size_t>> sums;
        for (size_t k = 0; k < tiles_.size(); ++k) {
            std::vector<int64_t> key;
            for (size_t i = 0; i < definition.iterators.size(); ++i)
                if (!definition.iterators[i].is_reduction) key.push_back(tiles_[k].place[i]);
            sums[key].push_back(k);
        }
        int64_t bytes = 0, elements = 0;
        for (const int result : definition.results()) {
            bytes += footprints_.bytes(static_cast<size_t>(result), plan_.sizes);
            elements += footprints_.elements(static_cast<size_t>(result), plan_.sizes);
        }
        const size_t vector = chip_.chip.units.size() - 1;
        for (const auto& [key, group] : sums) {
            const auto adders = static_cast<int64_t>(group.size());
            if (adders == 1) continue;
            // Each element is added on one core, so there are no more of these than elements.
            const int64_t shares = std::min(adders, elements), added = tile_count(elements, shares);
            for (size_t a = 0; a < static_cast<size_t>(shares); ++a) {
                for (size_t b = 1; b < group.size(); ++b)
                    add(TransferKind::kReduce, core(group, (a + b) % group.size()), {core(group, a)},
                        tile_count(bytes, shares), plan_.steps - 1);
                made_.tiles.push_back(
                    {plan_.steps, core(group, a), vector, std::max<int64_t>(1, added * (adders - 1))});
            }
        }
    }

    void store(size_t tensor) {
        const int64_t bytes = footprints_.bytes(tensor, plan_.sizes);
        for (const PlacedTile& tile : tiles_)
            add(TransferKind::kStore, tile.core,
                {static_cast<int32_t>(static_cast<size_t>(tile.core) % chip_.chip.hbm.size())}, bytes);
    }

    const PlannedOperator& op_;
    const chip::Row& costs_;
    const PlannedRow& row_;
    const ExecutePlan& plan_;
    const chip::ChipDescription& chip_;
    Footprints footprints_;
    std::vector<PlacedTile> tiles_;
    chip::ProgramOperator made_;
};

size_t parts_in(const chip::ProgramOperator& op) {
    size_t parts = op.tiles.size();
    for (const TransferKind kind : chip::kTransferKinds)
        for (const Transfer& transfer : op.of(kind)) parts += transfer.to.size();
    return parts;
}

}  // namespace

chip::DeviceProgram device_program(const ChipTables& tables, const chip::Schedule& schedule,
                                   const chip::ChipDescription& chip, const std::string& name,
                                   size_t most_parts) {
    const chip::ScheduleProblem& problem = tables.problem;
    chip::DeviceProgram program{.name = name, .operators = {}, .entries = {}, .sequence = {}};
    std::map<std::pair<size_t, size_t>, size_t> known;  // operator and row, and its place in the program
    std::vector<size_t> parts_of_operator;
    size_t parts = 0;
    for (size_t i = 0; i < problem.size(); ++i) {
        const size_t o = problem.sequence[i], row = schedule.rows[i];
        const auto [found, is_new] = known.emplace(std::pair(o, row), program.operators.size());
        if (is_new) {
            OperatorProgram made(tables.operators[o], problem.operators[o].rows[row],
                                 tables.operators[o].rows[row], chip);
            program.operators.push_back(made.make());
            program.operators.back().name = problem.operators[o].name;
            parts_of_operator.push_back(parts_in(program.operators.back()));
        }
        program.sequence.push_back(found->second);
        parts += parts_of_operator[found->second];
        if (parts > most_parts)
            throw Error("", problem.at(i).name,
                        fmt::format("makes more than {} transfers and tiles of the program", most_parts),
                        "take a smaller chip, or a graph of a few operators");
    }
    size_t next = 0;
    for (size_t i = 0; i < problem.size(); ++i) {
        for (; next < problem.size() && schedule.slots[schedule.order[next]] <= i; ++next)
            program.entries.push_back({false, schedule.order[next]});
        program.entries.push_back({true, i});
    }
    return program;
}

}  // namespace tessera::partition
