#include "chip/step_order.h"

#include <algorithm>
#include <utility>

namespace tessera::chip {

StepOrder::StepOrder(const ProgramOperator& op, int32_t cores) : op_(op), cores_(static_cast<size_t>(cores)) {
    for (const Tile& tile : op.tiles) steps_.push_back(tile.step);
    for (const TransferKind kind : {TransferKind::kShift, TransferKind::kReduce})
        for (const Transfer& transfer : op.of(kind)) steps_.push_back(transfer.step);
    std::sort(steps_.begin(), steps_.end());
    steps_.erase(std::unique(steps_.begin(), steps_.end()), steps_.end());
    for (Core& core : cores_) {
        core.arrivals.assign(steps_.size() + 1, 0);
        core.tiles.assign(steps_.size(), 0);
    }
    for (size_t t = 0; t < op.tiles.size(); ++t) {
        const Tile& tile = op.tiles[t];
        if (tile.flops == 0) continue;
        const size_t step = number(tile.step);
        Core& core = cores_[static_cast<size_t>(tile.core)];
        ++core.tiles[step];
        core.waiting.push_back({{.is_tile = true, .index = t}, step + 1, step});
        ++left_;
    }
    for (const TransferKind kind :
         {TransferKind::kDistribute, TransferKind::kShift, TransferKind::kReduce, TransferKind::kStore})
        for (size_t i = 0; i < op.of(kind).size(); ++i) {
            const Transfer& transfer = op.of(kind)[i];
            if (transfer.bytes == 0) continue;
            Waiting waiting{{.kind = kind, .index = i}, 0, 0};
            if (kind == TransferKind::kShift || kind == TransferKind::kReduce)
                waiting.arrivals = number(transfer.step) + 1;
            if (kind == TransferKind::kReduce) waiting.tiles = number(transfer.step) + 1;
            if (kind == TransferKind::kStore) waiting = {waiting.item, steps_.size() + 1, steps_.size()};
            cores_[static_cast<size_t>(transfer.from)].waiting.push_back(waiting);
            ++left_;
            if (kind == TransferKind::kStore) continue;
            for (const int32_t target : transfer.to)
                ++cores_[static_cast<size_t>(target)].arrivals[group(kind, transfer)];
        }
    for (int32_t c = 0; c < cores; ++c) wake(c);
}

size_t StepOrder::number(int64_t step) const {
    return static_cast<size_t>(std::lower_bound(steps_.begin(), steps_.end(), step) - steps_.begin());
}

size_t StepOrder::group(TransferKind kind, const Transfer& transfer) const {
    return kind == TransferKind::kDistribute ? 0 : number(transfer.step) + 1;
}

void StepOrder::wake(int32_t core) {
    Core& of = cores_[static_cast<size_t>(core)];
    while (of.first_arrival < of.arrivals.size() && of.arrivals[of.first_arrival] == 0) ++of.first_arrival;
    while (of.first_tile < of.tiles.size() && of.tiles[of.first_tile] == 0) ++of.first_tile;
    std::erase_if(of.waiting, [&](const Waiting& waiting) {
        if (waiting.arrivals > of.first_arrival || waiting.tiles > of.first_tile) return false;
        ready_.push_back(waiting.item);
        return true;
    });
}

std::vector<StepOrder::Item> StepOrder::take_ready() {
    return std::exchange(ready_, {});
}

void StepOrder::arrived(TransferKind kind, size_t index) {
    --left_;
    if (kind == TransferKind::kStore) return;
    const Transfer& transfer = op_.of(kind)[index];
    for (const int32_t target : transfer.to) {
        --cores_[static_cast<size_t>(target)].arrivals[group(kind, transfer)];
        wake(target);
    }
}

void StepOrder::computed(size_t tile) {
    --left_;
    const Tile& of = op_.tiles[tile];
    --cores_[static_cast<size_t>(of.core)].tiles[number(of.step)];
    wake(of.core);
}

}  // namespace tessera::chip
