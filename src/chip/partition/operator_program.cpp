#include "chip/partition/operator_program.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/core.h>

#include "chip/partition/place_tiles.h"
#include "chip/partition/reduced_shares.h"
#include "chip/partition/rotations.h"
#include "chip/partition/send_order.h"
#include "support/error.h"

namespace tessera::partition {

Elements on_chip(const Homes& homes) {
    Elements all;
    for (const Home& home : homes) all = unite(all, home.elements);
    return all;
}

namespace {

using chip::Transfer;
using chip::TransferKind;

class OperatorProgram {
public:
    OperatorProgram(const PlannedOperator& op, const chip::Row& costs, const PlannedRow& row,
                    const chip::ChipDescription& chip, const std::vector<Homes>* homes)
        : op_(op),
          bound_(op.op.bound),
          costs_(costs),
          row_(row),
          plan_(row.execute),
          chip_(chip),
          homes_(homes),
          footprints_(op.op.bound),
          tiles_(place_tiles(op.op.bound, row.execute, chip)) {}

    MadeOperator make() {
        for (size_t t = 0; t < op_.op.places.size(); ++t) {
            groups_.push_back(is_result(t) ? std::vector<TileGroup>{} : groups_of(t));
            if (rotates(t)) rotating_.push_back(groups_.back());
        }
        order_rings();
        if (!homes_) store_whole_tiles();
        for (size_t t = 0; t < op_.op.places.size(); ++t)
            for (const TileGroup& group : groups_[t]) {
                if (op_.op.places[t] == Place::kHbm) preload(t, group);
                if (homes_)
                    fetch_from_homes(t, group);
                else if (op_.op.places[t] != Place::kHbm)
                    fetch_from_sharers(t, group);
                if (rotates(t)) rotate(t, group);
            }
        compute();
        if (homes_)
            complete_results();
        else
            reduce_whole_tiles();
        sort_transfers(made_, TransferKind::kPreload,
                       scattered(made_.program.of(TransferKind::kPreload).size()));
        sort_transfers(made_, TransferKind::kReduce, reduce_turns_);
        const auto cores = static_cast<size_t>(chip_.chip.cores);
        made_.program.preload_bytes.assign(cores, 0);
        made_.program.execute_bytes.assign(cores, 0);
        for (const PlacedTile& tile : tiles_) {
            made_.program.preload_bytes[static_cast<size_t>(tile.core)] = costs_.preload_bytes;
            made_.program.execute_bytes[static_cast<size_t>(tile.core)] = costs_.exec_bytes;
        }
        return std::move(made_);
    }

private:
    bool is_result(size_t tensor) const { return bound_.is_result(static_cast<int>(tensor)); }
    bool rotates(size_t tensor) const { return rotates_in(plan_.rotating, tensor); }
    int64_t steps_of(size_t tensor) const { return rotates(tensor) ? plan_.steps : 1; }
    int32_t core(const TileGroup& group, size_t j) const { return tiles_[group[j]].core; }

    std::vector<TileGroup> groups_of(size_t tensor) const {
        return homes_ ? groups_by_elements(bound_, tensor, tiles_) : sharing_tiles(bound_, tensor, tiles_);
    }

    void order_rings() {
        if (auto parts = first_parts(rotating_, tiles_.size(), plan_.steps)) first_part_ = std::move(*parts);
        TESSERA_CHECK(!homes_ || !first_part_.empty(), "{} has a rotation_fault", op_.op.name);
    }
    /// The first part of the j-th tile of a group.
    int64_t first_part(size_t tensor, const TileGroup& group, size_t j) const {
        if (!rotates(tensor)) return 0;
        return first_part_.empty() ? static_cast<int64_t>(j) % plan_.steps : first_part_[group[j]];
    }
    /// The part that a tile has in a step.
    int64_t part_in(int64_t first, int64_t step) const { return (first + plan_.steps - step) % plan_.steps; }
    /// The elements that all tiles of a group touch in a part.
    Elements part_of(size_t tensor, const TileGroup& group, int64_t part) const {
        if (!homes_) return {};
        const PlacedTile& tile = tiles_[group[0]];
        return elements_of(bound_, tensor, rotates(tensor) ? box_of_part(tile, plan_, part) : tile.box);
    }

    int64_t bytes_of(const std::vector<Piece>& pieces, TransferKind kind) const {
        int64_t bytes = 0;
        for (const Piece& piece : pieces) {
            int64_t own = bits(bound_.tensor(static_cast<int>(piece.tensor)).type);
            if (kind == TransferKind::kReduce)
                own = std::max<int64_t>(own, bits(bound_.definition.accumulator));
            bytes += (piece.elements.size() * own + 7) / 8;
        }
        return bytes;
    }

    /// @param charged bytes of a transfer without contents
    /// @return false if there is nothing to transfer
    bool add(TransferKind kind, int32_t from, std::vector<int32_t> to, int64_t charged,
             const std::vector<Piece>& pieces, int64_t step = 0) {
        std::erase(to, kind == TransferKind::kPreload || kind == TransferKind::kStore ? -1 : from);
        const int64_t bytes = homes_ ? bytes_of(pieces, kind) : charged;
        if (bytes == 0 || to.empty()) return false;
        made_.program.transfers[static_cast<size_t>(kind)].push_back({from, std::move(to), bytes, step});
        if (homes_) made_.contents.transfers[static_cast<size_t>(kind)].push_back(pieces);
        return true;
    }

    /// Sends a part of a sum to the core that completes it, in its turn (chip/partition/send_order.h).
    void add_reduce(size_t turn, int32_t from, int32_t to, int64_t charged,
                    const std::vector<Piece>& pieces) {
        if (add(TransferKind::kReduce, from, {to}, charged, pieces, plan_.steps - 1))
            reduce_turns_.push_back(turn);
    }

    void preload(size_t tensor, const TileGroup& group) {
        const int64_t least = steps_of(tensor);
        const int64_t sharers =
            homes_ ? static_cast<int64_t>(group.size()) : footprints_.sharers(tensor, plan_.sizes);
        const int64_t parts = parts_of(sharers, least, row_.preload.parts), own_parts = parts / least;
        const int64_t charged = tile_count(footprints_.bytes(tensor, plan_.sizes), parts);
        // The tiles that begin with each part.
        std::vector<std::vector<int32_t>> beginning(static_cast<size_t>(least));
        for (size_t j = 0; j < group.size(); ++j)
            beginning[static_cast<size_t>(first_part(tensor, group, j))].push_back(core(group, j));
        for (int64_t part = 0; part < parts; ++part) {
            Piece piece{tensor, {}};
            if (homes_)
                piece.elements =
                    even_part(without(part_of(tensor, group, part % least), on_chip((*homes_)[tensor])),
                              own_parts, part / least);
            const std::vector<int32_t>& all = beginning[static_cast<size_t>(part % least)];
            std::vector<int32_t> holders;
            for (auto j = static_cast<size_t>(part / least); j < all.size();
                 j += static_cast<size_t>(own_parts))
                holders.push_back(all[j]);
            add(TransferKind::kPreload, 0, holders, charged, {piece});
            // The others get it from a holder near them.
            std::map<int32_t, std::vector<int32_t>> receivers;
            for (size_t j = 0; j < all.size(); ++j)
                if (static_cast<int64_t>(j) % own_parts != part / least)
                    receivers[holders[j / static_cast<size_t>(own_parts) % holders.size()]].push_back(all[j]);
            for (auto& [from, to] : receivers)
                add(TransferKind::kDistribute, from, std::move(to), charged, {piece});
        }
    }

    void fetch_from_homes(size_t tensor, const TileGroup& group) {
        for (int64_t part = 0; part < steps_of(tensor); ++part) {
            const Elements needed = part_of(tensor, group, part);
            std::vector<int32_t> receivers;
            for (size_t j = 0; j < group.size(); ++j)
                if (first_part(tensor, group, j) == part) receivers.push_back(core(group, j));
            for (const Home& home : (*homes_)[tensor])
                add(TransferKind::kDistribute, home.core, receivers, 0,
                    {{tensor, common(needed, home.elements)}});
        }
    }

    void fetch_from_sharers(size_t tensor, const TileGroup& group) {
        TileSizes step = plan_.sizes;
        if (rotates(tensor)) step[plan_.along] = tile_count(step[plan_.along], plan_.steps);
        const int64_t bytes = footprints_.bytes(tensor, step);
        if (group.size() == 1 || rotates(tensor)) {
            for (const size_t k : group)
                add(TransferKind::kDistribute, tiles_[(k + 1) % tiles_.size()].core, {tiles_[k].core}, bytes,
                    {});
            return;
        }
        // Each of the first ones has an even part of whole elements.
        const int64_t holders =
            std::min(static_cast<int64_t>(group.size()), footprints_.elements(tensor, plan_.sizes));
        std::vector<int32_t> all;
        for (size_t j = 0; j < group.size(); ++j) all.push_back(core(group, j));
        for (int64_t j = 0; j < holders; ++j)
            add(TransferKind::kDistribute, core(group, static_cast<size_t>(j)), all,
                tile_count(bytes, holders), {});
    }

    void rotate(size_t tensor, const TileGroup& group) {
        TileSizes step = plan_.sizes;
        step[plan_.along] = tile_count(step[plan_.along], plan_.steps);
        const int64_t bytes = footprints_.bytes(tensor, step);
        const auto ring = static_cast<size_t>(plan_.steps);
        std::vector<Elements> parts;
        for (int64_t part = 0; part < plan_.steps; ++part) parts.push_back(part_of(tensor, group, part));
        for (int64_t s = 0; s + 1 < plan_.steps; ++s)
            for (size_t j = 0; j < group.size(); ++j) {
                const size_t first = j / ring * ring, size = std::min(ring, group.size() - first);
                const auto part = static_cast<size_t>(part_in(first_part(tensor, group, j), s));
                add(TransferKind::kShift, core(group, j), {core(group, first + (j - first + 1) % size)},
                    bytes, {{tensor, parts[part]}}, s);
            }
    }

    void compute() {
        const std::string unit = op_.uses_matrix_unit ? "matrix" : "vector";
        const auto found = std::find_if(chip_.chip.units.begin(), chip_.chip.units.end(),
                                        [&](const chip::ComputeUnit& each) { return each.name == unit; });
        const auto index = static_cast<size_t>(found - chip_.chip.units.begin());
        const TileCost cost(bound_, footprints_, chip_);
        for (size_t k = 0; k < tiles_.size(); ++k) {
            TileSizes own;
            for (const facts::Range& range : tiles_[k].box) own.push_back(range.size());
            if (plan_.steps > 1) own[plan_.along] = tile_count(own[plan_.along], plan_.steps);
            const double cycles = cost.cycles(own) + op_.exchange / static_cast<double>(plan_.steps);
            const int64_t flops = std::max<int64_t>(1, std::llround(cycles * found->flops_per_cycle));
            for (int64_t s = 0; s < plan_.steps; ++s) {
                made_.program.tiles.push_back({s, tiles_[k].core, index, flops});
                if (homes_) made_.contents.tiles.push_back(contents_of(k, s));
            }
        }
    }

    TileContents contents_of(size_t k, int64_t step) const {
        TileContents contents;
        const int64_t part = plan_.steps == 1 ? 0 : part_in(first_part_[k], step);
        contents.box = box_of_part(tiles_[k], plan_, part);
        for (size_t t = 0; t < op_.op.places.size(); ++t)
            if (rotates(t)) contents.released.push_back({t, elements_of(bound_, t, contents.box)});
        return contents;
    }

    void complete_results() {
        made_.results.resize(op_.op.places.size());
        for (const SumShare& share : sum_shares(bound_, tiles_)) {
            const int32_t on = tiles_[share.tile].core;
            if (folds_into_previous(bound_.definition)) get_previous(on, share.pieces.front());
            if (share.parts.empty()) {
                finish(share.tile, keep(on, share.pieces));
                continue;
            }
            TileContents adding{.writing = tiles_[share.tile].box};
            int64_t added = 0;
            for (const SumShare::Part& part : share.parts) {
                for (const Piece& piece : part.pieces) added += piece.elements.size();
                add_reduce(adding.adders.size(), tiles_[part.tile].core, on, 0, part.pieces);
                adding.adders.push_back(tiles_[part.tile].core);
            }
            adding.finished = keep(on, share.pieces);
            made_.program.tiles.push_back({plan_.steps, on, vector_unit(), std::max<int64_t>(1, added)});
            made_.contents.tiles.push_back(std::move(adding));
        }
        keep_untouched();
        for (size_t t = 0; t < op_.op.places.size(); ++t)
            if (is_result(t) && op_.op.places[t] == Place::kHbm)
                for (const Home& home : made_.results[t])
                    add(TransferKind::kStore, home.core, {controller_of(home.core)}, 0, {{t, home.elements}});
    }

    /// Gets the previous contents of an update from the HBM, or from the cores that hold them.
    void get_previous(int32_t on, const Piece& piece) {
        const Homes& homes = (*homes_)[piece.tensor];
        if (op_.op.places[piece.tensor] == Place::kHbm)
            add(TransferKind::kPreload, 0, {on}, 0,
                {{piece.tensor, without(piece.elements, on_chip(homes))}});
        for (const Home& home : homes)
            add(TransferKind::kDistribute, home.core, {on}, 0,
                {{piece.tensor, common(piece.elements, home.elements)}});
    }

    /// A tile completes its results in the steps that write them, if no two steps write one element;
    /// otherwise in the last step.
    void finish(size_t k, std::vector<Piece> pieces) {
        const auto steps = static_cast<size_t>(plan_.steps);
        TileContents* const tile = &made_.contents.tiles[k * steps];
        int64_t written = 0, all = 0;
        std::vector<std::vector<Piece>> by_step(steps);
        for (const Piece& piece : pieces) {
            all += piece.elements.size();
            for (size_t s = 0; s < steps; ++s) {
                const Elements own = elements_of(bound_, piece.tensor, tile[s].box);
                by_step[s].push_back({piece.tensor, common(piece.elements, own)});
                written += by_step[s].back().elements.size();
            }
        }
        if (written != all) {
            tile[steps - 1].finished = std::move(pieces);
            tile[steps - 1].writing = tiles_[k].box;
            return;
        }
        for (size_t s = 0; s < steps; ++s) {
            tile[s].finished = std::move(by_step[s]);
            tile[s].writing = tile[s].box;
        }
    }

    /// Notes that these results lie on a core. Results that a softmax makes once for several tiles belong to
    /// the first.
    std::vector<Piece> keep(int32_t on, std::vector<Piece> pieces) {
        for (Piece& piece : pieces) {
            Homes& homes = made_.results[piece.tensor];
            piece.elements = without(piece.elements, on_chip(homes));
            if (!piece.elements.empty()) homes.push_back({on, piece.elements});
        }
        return pieces;
    }

    void reduce_whole_tiles() {
        const Definition& definition = bound_.definition;
        std::map<std::vector<int64_t>, TileGroup> sums;
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
        for (const auto& [key, group] : sums) {
            const auto adders = static_cast<int64_t>(group.size());
            if (adders == 1) continue;
            // Each element is added on one core, so there are no more adding cores than elements.
            const int64_t shares = std::min(adders, elements), added = tile_count(elements, shares);
            for (size_t a = 0; a < static_cast<size_t>(shares); ++a) {
                for (size_t b = 1; b < group.size(); ++b)
                    add_reduce(b, core(group, (a + b) % group.size()), core(group, a),
                               tile_count(bytes, shares), {});
                made_.program.tiles.push_back(
                    {plan_.steps, core(group, a), vector_unit(), std::max<int64_t>(1, added * (adders - 1))});
            }
        }
    }

    /// Puts the elements of a result that no iteration reaches on the first core.
    void keep_untouched() {
        for (const int result : bound_.definition.results()) {
            const auto t = static_cast<size_t>(result);
            if (bound_.tensor(result).role == Role::kUpdate) continue;
            const Elements rest = without(Elements(facts::Range{0, element_count(bound_.shape(result))}),
                                          on_chip(made_.results[t]));
            if (rest.empty()) continue;
            made_.contents.tiles.front().untouched.push_back({t, rest});
            made_.results[t].push_back({tiles_[0].core, rest});
        }
    }

    int32_t controller_of(int32_t core) const {
        return static_cast<int32_t>(static_cast<size_t>(core) % chip_.chip.hbm.size());
    }

    size_t vector_unit() const { return chip_.chip.units.size() - 1; }

    void store_whole_tiles() {
        for (size_t t = 0; t < op_.op.places.size(); ++t) {
            if (!is_result(t) || op_.op.places[t] != Place::kHbm) continue;
            const int64_t bytes = footprints_.bytes(t, plan_.sizes);
            for (const PlacedTile& tile : tiles_)
                add(TransferKind::kStore, tile.core, {controller_of(tile.core)}, bytes, {});
        }
    }

    const PlannedOperator& op_;
    const facts::BoundDefinition& bound_;
    const chip::Row& costs_;
    const PlannedRow& row_;
    const ExecutePlan& plan_;
    const chip::ChipDescription& chip_;
    const std::vector<Homes>* homes_;
    Footprints footprints_;
    std::vector<PlacedTile> tiles_;
    std::vector<std::vector<TileGroup>> groups_;    ///< of each tensor; none of results
    std::vector<std::vector<TileGroup>> rotating_;  ///< of those that rotate
    std::vector<int64_t> first_part_;               ///< of each tile; empty: by its place in the group
    std::vector<uint64_t> reduce_turns_;            ///< of each transfer of a reduce
    MadeOperator made_;
};

}  // namespace

MadeOperator make_operator(const PlannedOperator& op, const chip::Row& costs, const PlannedRow& row,
                           const chip::ChipDescription& chip, const std::vector<Homes>* homes) {
    return OperatorProgram(op, costs, row, chip, homes).make();
}

}  // namespace tessera::partition
