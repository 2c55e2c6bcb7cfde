// Depth-first search over the next actions of the preloads.
//
// Whenever no preload runs, either another operator is preloaded at once, in one of its rows, or none before
// the running or next execute has ended: a slot means nothing else. A preload that is issued in one slot but
// begins only in a later one gives the same schedule as if issued there, so it is not tried twice.
//
//     state    time, the next execute and what is left of it, the preload and what is left of it, SRAM held
//     bound    of the rest: executes one by one; preloads one by one, those up to k before execute k; link
//     merging  where an execute begins or is waited for, and no preload runs, only what is held matters for
//              the rest, and the earlier state is better

#include "chip/exact_schedule.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "chip/timeline.h"
#include "support/error.h"

namespace tessera::chip {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLeftOver = 1e-12;   ///< of a preload or an execute: it is done if less is left
constexpr double kExcessTime = 1e-3;  ///< cycles of an excess that may be rounding: run_schedule decides
constexpr double kBetter = 1e-12;     ///< of the total

/// An operator whose row is open, for the bound: the least of each number.
struct Open {
    double execute = kInfinity;
    double preload = kInfinity;
    double link = kInfinity;
};

struct SearchState {
    double time = 0;
    size_t execute = 0;        ///< the running or next one
    double execute_left = -1;  ///< cycles of it alone; negative: it has not begun
    double preload_left = -1;  ///< of the preload that runs; negative: none does
    size_t preloading = 0;
    bool is_closed = false;  ///< no preload begins before the end of the execute
    int64_t held = 0;
};

class ExactSearch {
public:
    ExactSearch(const ScheduleProblem& problem, const Schedule& start, const ExactOptions& options)
        : problem_(problem), options_(options), size_(problem.size()) {
        result_.best = start;
        result_.total = run_schedule(problem, start).total;
        row_.assign(size_, kNoRow);
        is_done_.assign(size_, false);
        schedule_.slots.assign(size_, 0);
        for (size_t i = 0; i < size_; ++i) {
            Open open;
            for (const Row& row : problem.at(i).rows)
                if (problem.is_usable(row)) {
                    open.execute = std::min(open.execute, row.execute());
                    open.preload = std::min(open.preload, row.preload());
                    open.link = std::min(open.link, row.link_in + row.traffic());
                }
            open_.push_back(open);
        }
    }

    ExactResult run() {
        decide({});
        result_.is_proved = !is_stopped_;
        return std::move(result_);
    }

private:
    static constexpr size_t kNoRow = SIZE_MAX;

    const Row& row(size_t position) const { return problem_.at(position).rows[row_[position]]; }

    /// No preload runs, and one may begin.
    void decide(const SearchState& state) {
        is_stopped_ = is_stopped_ || result_.nodes >= options_.nodes;
        if (is_stopped_) return;
        ++result_.nodes;
        if (options_.cut_by_bound && bound(state) >= result_.total * (1 - kBetter)) return;
        if (options_.merge_states && is_late(state)) return;
        for (size_t j = state.execute; j < size_ && !state.is_closed && !is_stopped_; ++j) {
            if (row_[j] != kNoRow) continue;
            for (size_t k = 0; k < problem_.at(j).rows.size(); ++k) {
                const Row& chosen = problem_.at(j).rows[k];
                if (!problem_.is_usable(chosen) || !may_hold(state, chosen.preload_bytes)) continue;
                row_[j] = k;
                schedule_.order.push_back(j);
                schedule_.slots[j] = state.execute;
                SearchState next = state;
                next.held += chosen.preload_bytes;
                next.preloading = j;
                next.preload_left = chosen.preload();
                if (next.preload_left <= 0) {
                    next.preload_left = -1;
                    is_done_[j] = true;
                }
                advance(next);
                is_done_[j] = false;
                schedule_.order.pop_back();
                row_[j] = kNoRow;
            }
        }
        SearchState next = state;
        next.is_closed = true;
        if (state.execute_left >= 0 || is_done_[state.execute]) advance(next);
    }

    bool may_hold(const SearchState& state, int64_t bytes) const {
        if (state.held + bytes <= problem_.sram_bytes) return true;
        return state.execute_left >= 0 && state.execute_left <= kExcessTime;
    }

    /// Runs until no preload runs and one may begin, or the end.
    void advance(SearchState state) {
        bool is_valid = begin_execute(state);
        while (is_valid) {
            if (state.preload_left < 0 && !state.is_closed) {
                decide(state);
                return;
            }
            if (step(state)) {
                finish(state.time);
                return;
            }
            is_valid = begin_execute(state);
        }
    }

    /// Begins the execute if it may. @return false if it does not fit
    bool begin_execute(SearchState& state) const {
        if (state.execute_left >= 0 || !is_done_[state.execute]) return true;
        const Row& own = row(state.execute);
        state.held += own.exec_bytes - own.preload_bytes;
        state.execute_left = own.execute();
        return state.held <= problem_.sram_bytes || state.execute_left <= kExcessTime;
    }

    /// Runs to the next end of a preload or an execute. @return true if the last execute has ended
    bool step(SearchState& state) {
        const Row* executing = state.execute_left >= 0 ? &row(state.execute) : nullptr;
        const Row* preloading = state.preload_left >= 0 ? &row(state.preloading) : nullptr;
        Speeds speed;
        if (executing != nullptr && preloading != nullptr)
            speed = speeds(problem_.share, executing->execute_use(), preloading->preload_use());
        const double to_end =
            executing != nullptr && speed.execute > 0 ? state.execute_left / speed.execute : kInfinity;
        const double to_preload =
            preloading != nullptr && speed.preload > 0 ? state.preload_left / speed.preload : kInfinity;
        const double time = std::min(to_end, to_preload);
        state.time += time;
        if (preloading != nullptr) {
            state.preload_left = to_preload <= time ? 0 : state.preload_left - time * speed.preload;
            if (state.preload_left <= kLeftOver * preloading->preload()) {
                state.preload_left = -1;
                is_done_[state.preloading] = true;
            }
        }
        if (executing != nullptr) {
            state.execute_left = to_end <= time ? 0 : state.execute_left - time * speed.execute;
            if (state.execute_left <= kLeftOver * executing->execute()) {
                state.held -= executing->exec_bytes;
                state.execute_left = -1;
                state.is_closed = false;
                ++state.execute;
            }
        }
        return state.execute == size_;
    }

    void finish(double time) {
        if (time >= result_.total * (1 - kBetter)) return;
        schedule_.rows = row_;
        if (!schedule_fault(problem_, schedule_).empty()) return;
        const double total = run_schedule(problem_, schedule_).total;
        if (total >= result_.total * (1 - kBetter)) return;
        result_.total = total;
        result_.best = schedule_;
    }

    double bound(const SearchState& state) const {
        const double preload_left = std::max(0.0, state.preload_left);
        const double execute_left = std::max(0.0, state.execute_left);
        const size_t first = state.execute + (state.execute_left >= 0 ? 1 : 0);
        double executes = 0, link = 0;
        for (size_t m = first; m < size_; ++m) {
            executes += row_[m] == kNoRow ? open_[m].execute : row(m).execute();
            link += row_[m] == kNoRow ? open_[m].link : row(m).traffic();
        }
        if (state.execute_left >= 0) link += execute_left * row(state.execute).execute_share();
        if (state.preload_left >= 0) link += preload_left * row(state.preloading).preload_share();
        double rest = std::max(execute_left + executes, link);
        double preloads = preload_left;
        for (size_t k = first; k < size_; ++k) {
            if (row_[k] == kNoRow) {
                preloads += open_[k].preload;
                rest = std::max(rest, preloads + executes);
            }
            executes -= row_[k] == kNoRow ? open_[k].execute : row(k).execute();
        }
        return state.time + rest;
    }

    /// True if the same state was reached at an earlier time, or at this one.
    bool is_late(const SearchState& state) {
        if (state.is_closed || size_ > kMostMerged) return false;
        if (state.execute_left >= 0 && state.execute_left < row(state.execute).execute()) return false;
        uint64_t key = 1;
        for (size_t j = state.execute; j < size_; ++j) {
            if (row_[j] != kNoRow && row_[j] + 1 >= kRowNumbers) return false;
            key = key * kRowNumbers + (row_[j] == kNoRow ? 0 : row_[j] + 1);
        }
        if (earliest_.size() >= kMostRemembered && !earliest_.contains(key)) return false;
        const auto [found, is_new] = earliest_.try_emplace(key, state.time);
        if (is_new) return false;
        // The state that made the entry does not come again: is_late is called once for each.
        if (found->second <= state.time) return true;
        found->second = state.time;
        return false;
    }

    static constexpr size_t kMostMerged = 12;  ///< positions: a digit for each fits into a key
    static constexpr uint64_t kRowNumbers = 32;
    static constexpr size_t kMostRemembered = 1'000'000;

    const ScheduleProblem& problem_;
    const ExactOptions& options_;
    size_t size_;
    std::vector<Open> open_;
    std::vector<size_t> row_;    ///< of preloads that have begun
    std::vector<bool> is_done_;  ///< preloads that have ended
    Schedule schedule_;
    ExactResult result_;
    bool is_stopped_ = false;
    std::unordered_map<uint64_t, double> earliest_;
};

}  // namespace

ExactResult exact_schedule(const ScheduleProblem& problem, const Schedule& start,
                           const ExactOptions& options) {
    return ExactSearch(problem, start, options).run();
}

}  // namespace tessera::chip
