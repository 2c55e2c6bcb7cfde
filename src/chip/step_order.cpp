#include "chip/step_order.h"

#include <algorithm>
#include <utility>

namespace tessera::chip {

StepOrder::StepOrder(const ProgramOperator& op, int32_t cores) : op_(op), cores_(static_cast<size_t>(cores)) {
    // Most follow one of the same step.
    const auto add_step = [&](int64_t step) {
        if (steps_.empty() || steps_.back() != step) steps_.push_back(step);
    };
    for (const Tile& tile : op.tiles) add_step(tile.step);
    for (const TransferKind kind : {TransferKind::kShift, TransferKind::kReduce})
        for (const Transfer& transfer : op.of(kind)) add_step(transfer.step);
    std::sort(steps_.begin(), steps_.end());
    steps_.erase(std::unique(steps_.begin(), steps_.end()), steps_.end());
    arrivals_.resize((steps_.size() + 1) * cores_.size());
    for (Core& core : cores_) core.tiles.assign(steps_.size(), 0);
    std::vector<std::pair<int32_t, Waiting>> items;  // with their cores
    for (size_t t = 0; t < op.tiles.size(); ++t) {
        const Tile& tile = op.tiles[t];
        if (tile.flops == 0) continue;
        const auto step = static_cast<uint32_t>(number(tile.step));
        ++cores_[static_cast<size_t>(tile.core)].tiles[step];
        items.push_back({tile.core, {{.index = static_cast<uint32_t>(t), .is_tile = true}, step + 1, step}});
        ++left_;
    }
    for (const TransferKind kind :
         {TransferKind::kDistribute, TransferKind::kShift, TransferKind::kReduce, TransferKind::kStore}) {
        std::vector<uint32_t>& group_of = group_[static_cast<size_t>(kind)];
        group_of.resize(op.of(kind).size());
        for (size_t i = 0; i < op.of(kind).size(); ++i) {
            const Transfer& transfer = op.of(kind)[i];
            if (transfer.bytes == 0) continue;
            Waiting waiting{{.index = static_cast<uint32_t>(i), .kind = kind}, 0, 0};
            const auto all = static_cast<uint32_t>(steps_.size());
            if (kind == TransferKind::kShift || kind == TransferKind::kReduce)
                waiting.arrivals = static_cast<uint32_t>(number(transfer.step)) + 1;
            if (kind == TransferKind::kReduce) waiting.tiles = waiting.arrivals;
            if (kind == TransferKind::kStore) waiting = {waiting.item, all + 1, all};
            items.emplace_back(transfer.from, waiting);
            if (kind == TransferKind::kStore) {
                expect(stores_);
                continue;
            }
            const size_t own = group(kind, transfer);
            group_of[i] = static_cast<uint32_t>(own);
            for (const int32_t target : transfer.to) expect(arrivals(target, own));
        }
    }
    collect(items);
    for (int32_t c = 0; c < cores; ++c) wake(c);
}

void StepOrder::collect(const std::vector<std::pair<int32_t, Waiting>>& items) {
    for (const auto& [core, waiting] : items) ++cores_[static_cast<size_t>(core)].count;
    size_t first = 0;
    for (Core& core : cores_) {
        core.first = first;
        first += std::exchange(core.count, 0);
    }
    waiting_.resize(first);
    for (const auto& [core, waiting] : items) {
        Core& of = cores_[static_cast<size_t>(core)];
        waiting_[of.first + of.count++] = waiting;
    }
}

size_t StepOrder::number(int64_t step) const {
    return static_cast<size_t>(std::lower_bound(steps_.begin(), steps_.end(), step) - steps_.begin());
}

size_t StepOrder::group(TransferKind kind, const Transfer& transfer) const {
    return kind == TransferKind::kDistribute ? 0 : number(transfer.step) + 1;
}

void StepOrder::wake(int32_t core) {
    Core& of = cores_[static_cast<size_t>(core)];
    while (of.first_arrival <= steps_.size() && arrivals(core, of.first_arrival).is_there) ++of.first_arrival;
    while (of.first_tile < of.tiles.size() && of.tiles[of.first_tile] == 0) ++of.first_tile;
    size_t left = 0;
    for (size_t w = of.first; w < of.first + of.count; ++w) {
        const Waiting waiting = waiting_[w];
        if (waiting.arrivals > of.first_arrival || waiting.tiles > of.first_tile)
            waiting_[of.first + left++] = waiting;
        else
            ready_.push_back(waiting.item);
    }
    of.count = left;
}

void StepOrder::expect(Group& group) {
    if (group.is_there) ++left_;
    group.is_there = false;
    ++group.to_land;
}

void StepOrder::land(Group& group, int32_t core, size_t number, double time,
                     std::vector<Completed>& completed) {
    group.latest = std::max(group.latest, time);
    if (--group.to_land == 0) completed.push_back({core, static_cast<int32_t>(number), group.latest});
}

void StepOrder::will_arrive(TransferKind kind, size_t index, int32_t core, double time,
                            std::vector<Completed>& completed) {
    if (kind == TransferKind::kStore) return land(stores_, kNoCore, 0, time, completed);
    const size_t own = group_[static_cast<size_t>(kind)][index];
    // The list of a transfer to one core lies far away.
    if (core >= 0) return land(arrivals(core, own), core, own, time, completed);
    for (const int32_t target : op_.of(kind)[index].to)
        land(arrivals(target, own), target, own, time, completed);
}

void StepOrder::arrived(int32_t core, int32_t group) {
    --left_;
    if (core == kNoCore) return;
    arrivals(core, static_cast<size_t>(group)).is_there = true;
    wake(core);
}

void StepOrder::computed(size_t tile) {
    --left_;
    const Tile& of = op_.tiles[tile];
    if (--cores_[static_cast<size_t>(of.core)].tiles[number(of.step)] == 0) wake(of.core);
}

}  // namespace tessera::chip
