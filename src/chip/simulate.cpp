// The simulator: a program runs as two queues, preloads and executes, by the rules of paper 003, section 4.5.
//
//     execute i begins   after execute i - 1 and preload i have ended
//     a preload begins   after the preload before it, and the executes before it in the program, have ended
//
// StepOrder decides when each part of an execute may begin. Everything that takes time is an event. At equal
// times, ends go before begins.

#include <algorithm>
#include <optional>

#include <fmt/core.h>

#include "chip/packet_engine.h"
#include "chip/simulation.h"
#include "chip/step_order.h"
#include "support/error.h"
#include "support/shown.h"

namespace tessera::chip {
namespace {

/// Relative tolerance: closer events are simultaneous.
constexpr double kOneMoment = 1e-12;

class Simulator {
public:
    Simulator(const Chip& chip, const Network& network, const DeviceProgram& program,
              const std::string& where, Recording recording, const std::function<void(size_t)>& on_execute)
        : chip_(chip),
          program_(program),
          where_(where),
          on_execute_(on_execute),
          records_(recording == Recording::kEverything),
          engine_(chip, network, queue_, records_ ? &result_.packets : nullptr),
          is_preloaded_(program.size(), false),
          held_(static_cast<size_t>(chip.cores), 0),
          core_free_(static_cast<size_t>(chip.cores), 0) {
        result_.preloads.resize(program.size());
        result_.executes.resize(program.size());
        first_preload_space_.resize(program.size());
        first_execute_space_.resize(program.size());
        size_t executes = 0;
        for (size_t e = 0; e < program.entries.size(); ++e) {
            if (!program.entries[e].is_execute) preloads_.push_back({program.entries[e].op, executes});
            if (!program.entries[e].is_execute) continue;
            ++executes;
            execute_entries_.push_back(e);
        }
    }

    Simulation run() {
        check_work();
        control();
        while (executed_ < program_.size()) {
            if (queue_.is_empty()) fail_deadlock();
            now_ = queue_.next_time();
            const double until = now_ * (1 + kOneMoment);
            while (!queue_.is_empty() && queue_.next_time() <= until) {
                const Event event = queue_.pop();
                now_ = std::max(now_, event.time);
                handle(event);
            }
            control();
        }
        engine_.cut_records();
        return std::move(result_);
    }

private:
    struct QueuedPreload {
        size_t op;
        size_t executes;  ///< that come before it in the program
    };

    const ProgramOperator& op(size_t index) const { return program_.at(index); }

    void check_work() const {
        for (const ProgramOperator& each : program_.operators) {
            for (const TransferKind kind : kTransferKinds)
                for (const Transfer& transfer : each.of(kind))
                    if (transfer.bytes > 0) return;
            for (const Tile& tile : each.tiles)
                if (tile.flops > 0) return;
        }
        throw Error(where_, "operators", "have no work: no transfer has a byte, and no tile a flop");
    }

    [[noreturn]] void fail_deadlock() const {
        throw Error(
            where_, fmt::format("program[{}]", execute_entries_[executed_]),
            fmt::format(
                "execute {} ({}) waits for preload {}, which is issued after it: deadlock at cycle {:.3f}",
                executed_, shown(op(executed_).name), executed_, now_),
            "issue the preload of an operator before its execute");
    }

    /// Begins what may begin at this moment.
    void control() {
        while (true) {
            if (execution_ && execution_->is_done()) end_execute();
            if (!execution_ && executed_ < program_.size() && is_preloaded_[executed_]) {
                begin_execute();
                continue;
            }
            if (!is_preloading_ && preload_ < preloads_.size() && preloads_[preload_].executes <= executed_) {
                begin_preload();
                continue;
            }
            if (!execution_ || !execution_->is_done()) return;
        }
    }

    void begin_preload() {
        const size_t index = preloads_[preload_].op;
        preload_end_ = now_;
        hold(index, false);
        result_.preloads[index].begin = now_;
        // The first parts of all transfers before the second ones, so that all links into cores begin early.
        const std::vector<Transfer>& transfers = op(index).of(TransferKind::kPreload);
        for (int64_t part = 0; part < PacketEngine::kMostParts; ++part)
            for (size_t t = 0; t < transfers.size(); ++t) {
                const Transfer& transfer = transfers[t];
                const int64_t parts = engine_.parts(transfer, transfers.size());
                if (part >= parts) continue;
                const int64_t bytes = PacketEngine::bytes_before(transfer.bytes, part + 1, parts) -
                                      PacketEngine::bytes_before(transfer.bytes, part, parts);
                if (bytes == 0) continue;
                ++preload_left_;
                engine_.send({.op = index,
                              .kind = TransferKind::kPreload,
                              .to = transfer.to,
                              .bytes = bytes,
                              .item = t},
                             now_);
            }
        is_preloading_ = true;
        if (preload_left_ == 0) end_preload();
    }

    void end_preload() {
        const size_t index = preloads_[preload_++].op;
        is_preloading_ = false;
        result_.preloads[index].end = now_;
        is_preloaded_[index] = true;
    }

    void begin_execute() {
        result_.executes[executed_].begin = now_;
        give_back(executed_, false);
        hold(executed_, true);
        execution_.emplace(op(executed_), chip_.cores);
        begin_ready();
    }

    void end_execute() {
        result_.executes[executed_].end = now_;
        give_back(executed_, true);
        execution_.reset();
        ++executed_;
        if (on_execute_) on_execute_(executed_);
    }

    void begin_ready() {
        for (const StepOrder::Item& item : execution_->ready()) {
            if (item.is_tile) {
                begin_tile(item.index);
                continue;
            }
            const Transfer& transfer = op(executed_).of(item.kind)[item.index];
            engine_.send({.op = executed_,
                          .kind = item.kind,
                          .from = transfer.from,
                          .to = transfer.to,
                          .bytes = transfer.bytes,
                          .step = transfer.step,
                          .item = item.index},
                         now_);
        }
        execution_->ready().clear();
        note_landings();
    }

    /// Makes events of arrivals that others wait for: the last one of each kind at a core.
    void note_landings() {
        for (const PacketEngine::Landing& landing : engine_.landings()) {
            if (landing.is_more) {
                ++preload_left_;
                ++ends_known_;  // a known end is no longer valid
            } else if (landing.kind == TransferKind::kPreload) {
                preload_end_ = std::max(preload_end_, landing.time);
                if (--preload_left_ == 0) queue_.push(preload_end_, EventKind::kPreloadEnd, ends_known_);
            } else {
                execution_->will_arrive(landing.kind, landing.item, landing.core, landing.time, completed_);
            }
        }
        engine_.landings().clear();
        for (const StepOrder::Completed& each : completed_)
            queue_.push(each.time, EventKind::kArrived, each.core, each.group);
        completed_.clear();
    }

    void begin_tile(size_t index) {
        const Tile& tile = op(executed_).tiles[index];
        double& free = core_free_[static_cast<size_t>(tile.core)];
        const double start = std::max(now_, free);
        free = start + static_cast<double>(tile.flops) / chip_.units[tile.unit].flops_per_cycle;
        queue_.push(free, EventKind::kTileEnd, static_cast<int32_t>(index));
        if (records_) result_.tiles.push_back({executed_, tile, start, free, index});
    }

    void handle(const Event& event) {
        switch (event.kind) {
            case EventKind::kTileEnd:
                execution_->computed(static_cast<size_t>(event.a));
                begin_ready();
                break;
            case EventKind::kArrived:
                execution_->arrived(event.a, event.b);
                begin_ready();
                break;
            case EventKind::kPreloadEnd:
                if (event.a == ends_known_) end_preload();
                break;
            default:
                engine_.handle(event);
                note_landings();
        }
    }

    void hold(size_t index, bool is_execute) {
        const auto& bytes = is_execute ? op(index).execute_bytes : op(index).preload_bytes;
        (is_execute ? first_execute_space_ : first_preload_space_)[index] = result_.spaces.size();
        for (int32_t c = 0; c < chip_.cores; ++c) {
            const auto at = static_cast<size_t>(c);
            if (bytes[at] == 0) continue;
            if (held_[at] + bytes[at] > chip_.sram_bytes)
                throw Error(
                    where_, fmt::format("operators[{}]", index),
                    fmt::format(
                        "the {} of operator {} ({}) overflows core {} at cycle {:.3f}: it takes {} bytes, {} "
                        "of {} are held",
                        is_execute ? "execute" : "preload", index, shown(op(index).name), c, now_, bytes[at],
                        held_[at], chip_.sram_bytes));
            held_[at] += bytes[at];
            if (records_) result_.spaces.push_back({index, c, is_execute, bytes[at], now_, now_});
        }
    }

    void give_back(size_t index, bool is_execute) {
        const auto& bytes = is_execute ? op(index).execute_bytes : op(index).preload_bytes;
        for (size_t c = 0; c < held_.size(); ++c) held_[c] -= bytes[c];
        // The spaces of a state of an operator lie together.
        const auto& first = is_execute ? first_execute_space_ : first_preload_space_;
        for (size_t s = first[index]; s < result_.spaces.size(); ++s) {
            SpaceRecord& space = result_.spaces[s];
            if (space.op != index || space.is_execute != is_execute) break;
            space.free = now_;
        }
    }

    const Chip& chip_;
    const DeviceProgram& program_;
    const std::string& where_;
    const std::function<void(size_t)>& on_execute_;
    const bool records_;
    Simulation result_;
    EventQueue queue_;
    PacketEngine engine_;
    double now_ = 0;

    std::vector<QueuedPreload> preloads_;
    std::vector<size_t> execute_entries_;  ///< places in the program
    size_t preload_ = 0;                   ///< the running one, or the next
    int64_t preload_left_ = 0;             ///< packets of it of which the arrival is not known
    double preload_end_ = 0;               ///< latest arrival
    int32_t ends_known_ = 0;               ///< of preloads, and packets that gave way behind them
    bool is_preloading_ = false;
    std::vector<bool> is_preloaded_;
    size_t executed_ = 0;  ///< the running execute, or the next
    std::optional<StepOrder> execution_;
    std::vector<StepOrder::Completed> completed_;
    std::vector<int64_t> held_;  ///< bytes of each core
    std::vector<double> core_free_;
    std::vector<size_t> first_preload_space_, first_execute_space_;  ///< of each operator
};

}  // namespace

Simulation simulate(const Chip& chip, const Network& network, const DeviceProgram& program,
                    const std::string& where, Recording recording,
                    const std::function<void(size_t)>& on_execute) {
    return Simulator(chip, network, program, where, recording, on_execute).run();
}

}  // namespace tessera::chip
