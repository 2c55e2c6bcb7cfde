// The exact timeline of a schedule.
//
//     preloads   |--- 0 ---|-- 2 --|- 1 -|          one at a time, in their order, each from its slot on
//     executes             |---- 0 ----|    |-- 1 --|-- 2 --|     one at a time, in the order of the sequence
//
// Speeds change only when a preload or an execute begins or ends, so time goes from event to event, exactly
// but for the rounding of doubles.

#include "chip/timeline.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include <fmt/core.h>

#include "support/error.h"

namespace tessera::chip {
namespace {

/// A preload or an execute is done if less than this part is left.
constexpr double kDone = 1e-12;
/// An excess of SRAM for fewer cycles comes from rounding.
constexpr double kNoTime = 1e-3;

/// Cycles at a speed that may be 0.
double time_at(double left, double speed) {
    return speed > 0 ? left / speed : std::numeric_limits<double>::infinity();
}

class ScheduleRunner {
public:
    ScheduleRunner(const ScheduleProblem& problem, const Schedule& schedule)
        : problem_(problem), schedule_(schedule) {
        for (size_t i = 0; i < problem.size(); ++i) rows_.push_back(&problem.at(i).rows[schedule.rows[i]]);
        timeline_.preloads.resize(problem.size());
        timeline_.executes.resize(problem.size());
        is_preloaded_.resize(problem.size());
    }

    Timeline run() {
        while (execute_ < rows_.size()) {
            if (begin_preload()) continue;
            if (!execute_left_ && is_preloaded_[execute_]) {
                execute_left_ = rows_[execute_]->execute();
                timeline_.executes[execute_].begin = now_;
            }
            advance();
        }
        timeline_.total = now_;
        add_memory();
        return std::move(timeline_);
    }

private:
    size_t preload_position() const { return schedule_.order[preload_]; }

    /// Begins the next preload if it may. @return true if it has ended at once
    bool begin_preload() {
        if (preload_left_ || preload_ == rows_.size() || schedule_.slots[preload_position()] > execute_)
            return false;
        preload_left_ = rows_[preload_position()]->preload();
        timeline_.preloads[preload_position()].begin = now_;
        if (*preload_left_ > 0) return false;
        end_preload();
        return true;
    }

    void end_preload() {
        timeline_.preloads[preload_position()].end = now_;
        is_preloaded_[preload_position()] = true;
        preload_left_.reset();
        ++preload_;
    }

    void advance() {
        TESSERA_CHECK(execute_left_ || preload_left_, "nothing runs in front of execute {}", execute_);
        const Row* executing = execute_left_ ? rows_[execute_] : nullptr;
        const Row* preloading = preload_left_ ? rows_[preload_position()] : nullptr;
        Speeds speed;
        double step = 0;
        if (executing != nullptr && preloading != nullptr) {
            speed = speeds(problem_.share, executing->execute_use(), preloading->preload_use());
            step = std::min(time_at(*execute_left_, speed.execute), time_at(*preload_left_, speed.preload));
            timeline_.overlapped += step;
            timeline_.stalled += step * (1 - std::min(speed.execute, speed.preload));
        } else {
            step = executing != nullptr ? *execute_left_ : *preload_left_;
            (executing != nullptr ? timeline_.execute_only : timeline_.preload_only) += step;
        }
        now_ += step;
        if (executing != nullptr) {
            timeline_.link_busy += step * speed.execute * executing->execute_share();
            *execute_left_ -= step * speed.execute;
            if (*execute_left_ <= kDone * executing->execute()) {
                timeline_.executes[execute_].end = now_;
                execute_left_.reset();
                ++execute_;
            }
        }
        if (preloading != nullptr) {
            timeline_.link_busy += step * speed.preload * preloading->preload_share();
            timeline_.hbm_busy += step * speed.preload * preloading->hbm / preloading->preload();
            *preload_left_ -= step * speed.preload;
            if (*preload_left_ <= kDone * preloading->preload()) end_preload();
        }
    }

    void add_memory() {
        struct Event {
            double time;
            bool is_begin;  ///< at equal times, ends go first
            int64_t change;
            size_t position;
            bool is_execute;
            auto key() const { return std::tie(time, is_begin, change, position, is_execute); }
        };
        std::vector<Event> events;
        events.reserve(4 * rows_.size());
        for (size_t j = 0; j < rows_.size(); ++j) {
            const Span& execute = timeline_.executes[j];
            events.push_back({timeline_.preloads[j].begin, true, rows_[j]->preload_bytes, j, false});
            events.push_back({execute.begin, false, -rows_[j]->preload_bytes, j, false});
            events.push_back({execute.begin, true, rows_[j]->exec_bytes, j, true});
            events.push_back({execute.end, false, -rows_[j]->exec_bytes, j, true});
        }
        std::sort(events.begin(), events.end(),
                  [](const Event& a, const Event& b) { return a.key() < b.key(); });
        int64_t held = 0, most_above = 0;
        std::optional<Excess> now;
        for (const Event& event : events) {
            held += event.change;
            if (held > problem_.sram_bytes) {
                if (!now) now = Excess{event.position, event.is_execute, event.time, held};
                most_above = std::max(most_above, held);
                continue;
            }
            if (now && event.time - now->cycle > kNoTime) {
                if (!timeline_.excess) timeline_.excess = now;
                timeline_.sram_peak = std::max(timeline_.sram_peak, most_above);
            }
            now.reset();
            most_above = 0;
            timeline_.sram_peak = std::max(timeline_.sram_peak, held);
        }
    }

    const ScheduleProblem& problem_;
    const Schedule& schedule_;
    std::vector<const Row*> rows_;
    std::vector<bool> is_preloaded_;
    size_t execute_ = 0;                  ///< the running one, or the next
    size_t preload_ = 0;                  ///< likewise, in `order`
    std::optional<double> execute_left_;  ///< cycles of it alone, while it runs
    std::optional<double> preload_left_;
    double now_ = 0;
    Timeline timeline_;
};

}  // namespace

std::string form_fault(const ScheduleProblem& problem, const Schedule& schedule) {
    const size_t n = problem.size();
    if (schedule.rows.size() != n || schedule.order.size() != n || schedule.slots.size() != n)
        return fmt::format("rows, order or slots: not {} numbers", n);
    for (size_t i = 0; i < n; ++i)
        if (schedule.rows[i] >= problem.at(i).rows.size())
            return fmt::format("rows: operator {} ({}) has no row {}", i, problem.at(i).name,
                               schedule.rows[i]);
    std::vector<bool> is_there(n);
    size_t latest = 0;
    for (const size_t j : schedule.order) {
        if (j >= n || is_there[j]) return fmt::format("order: {} is no operator, or is there twice", j);
        is_there[j] = true;
        if (schedule.slots[j] > j)
            return fmt::format("slots: the preload of operator {} ({}) is issued after its execute: deadlock",
                               j, problem.at(j).name);
        if (schedule.slots[j] < latest)
            return fmt::format("slots: operator {} ({}) has slot {}, one that is preloaded before it has {}",
                               j, problem.at(j).name, schedule.slots[j], latest);
        latest = schedule.slots[j];
    }
    return {};
}

Timeline run_schedule(const ScheduleProblem& problem, const Schedule& schedule) {
    return ScheduleRunner(problem, schedule).run();
}

std::string schedule_fault(const ScheduleProblem& problem, const Schedule& schedule) {
    if (std::string fault = form_fault(problem, schedule); !fault.empty()) return fault;
    const Timeline timeline = run_schedule(problem, schedule);
    if (!timeline.excess) return {};
    const Excess& excess = *timeline.excess;
    return fmt::format("SRAM: {} of {} bytes from cycle {:.3f}, at the {} of operator {} ({})", excess.bytes,
                       problem.sram_bytes, excess.cycle, excess.is_execute ? "execute" : "preload",
                       excess.position, problem.at(excess.position).name);
}

}  // namespace tessera::chip
