#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "chip/schedule_problem.h"

namespace tessera::chip {

/// The decisions of the searches. Slots follow: every preload is issued as early as SRAM and lead allow.
struct Choice {
    static constexpr int32_t kAnyLead = INT32_MAX;

    std::vector<int32_t> row;    ///< of each position
    std::vector<int32_t> queue;  ///< positions that may preload bytes, in the order of their preloads
    std::vector<int32_t> lead;   ///< of each position: at most so many executes ahead is its preload issued
};

/// Positions of operators with a usable row that preloads bytes, in the order of the sequence.
std::vector<int32_t> carriers(const ScheduleProblem& problem);

/// The timeline of a choice, with changes tried at the cost of what they change.
///
/// A preload is issued in front of execute i if then, and in front of every execute up to its own, its bytes
/// fit beside the execute and all that is held or has to be held for it. So a schedule that begins valid
/// stays valid. The state in front of every execute is kept. A trial begins at the first one that the change
/// concerns and ends where the state is the old one again, which is where preloads wait for SRAM.
class EarliestTimeline {
public:
    EarliestTimeline(const ScheduleProblem& problem, Choice choice);

    /// Infinite for an order that deadlocks: an operator that is preloaded late waits for SRAM that only its
    /// own execute frees.
    double total() const { return total_; }
    const Choice& choice() const { return choice_; }
    Schedule schedule() const;

    struct RowChange {
        int32_t position;
        int32_t row;
    };
    struct LeadChange {
        int32_t position;
        int32_t lead;
    };
    /// The entry at `from` of the queue goes to `to`.
    struct Move {
        int32_t from;
        int32_t to;
    };
    struct Change {
        std::span<const RowChange> rows;
        std::span<const LeadChange> leads;
        std::span<const Move> moves;  ///< one after the other
    };
    /// An entry of the queue is never further from its place by execution.
    static constexpr int32_t kMostMoved = 24;
    bool may_move(const Move& move) const;
    int32_t place(int32_t position) const { return place_[static_cast<size_t>(position)]; }

    /// The total after a change. Exactly one of keep and undo must follow.
    double attempt(const Change& change);
    void keep();
    void undo();

    /// Executes that were run, in all: the measure of work.
    int64_t work() const { return work_; }

private:
    struct Plan {
        int64_t preload_bytes;
        int64_t exec_bytes;
        double execute;
        LinkUse execute_use;
        double preload;
        LinkUse preload_use;
    };
    /// In front of an execute.
    struct State {
        int32_t next;      ///< entry of the queue that is preloaded, or is next
        double left = -1;  ///< cycles of it alone; negative: it has not begun
        friend bool operator==(const State&, const State&) = default;
    };
    struct Held {
        int32_t first, last;  ///< executes, half open
        int64_t bytes;
    };

    const Plan& plan(int32_t position) const { return plan_[static_cast<size_t>(position)]; }
    void load(int32_t position);
    void apply(const Change& change);
    void move(const Move& move);
    void hold(int32_t position, int32_t from_execute);
    bool fits(int32_t position, int32_t execute, bool is_preloaded);
    void run(int32_t first_execute, int32_t last_change, int32_t last_entry);
    bool run_execute(int32_t execute, State& state);
    bool begin_preloads(int32_t execute, State& state, bool is_preloaded);
    int32_t first_concerned(const Change& change) const;

    const ScheduleProblem& problem_;
    int32_t size_;
    std::vector<size_t> operator_of_;
    std::vector<std::vector<Plan>> plans_;
    Choice choice_;
    std::vector<Plan> plan_;      ///< the chosen row of each position
    std::vector<int32_t> place_;  ///< in the queue, of each position; -1: it is not there
    std::vector<int32_t> rank_;   ///< entries of the queue with smaller positions

    // Kept, and what a trial made instead.
    std::vector<double> duration_, new_duration_;  ///< of each execute, with the wait in front of it
    std::vector<State> state_, new_state_;         ///< in front of each execute, and at the end
    std::vector<int32_t> head_, new_head_;  ///< of each entry: the execute at which it became the next one
    std::vector<int32_t> slot_, new_slot_;  ///< of each entry
    double total_ = 0, new_total_ = 0;
    int32_t begin_ = 0, end_ = 0;  ///< executes of the trial

    std::vector<int64_t>
        needed_;                ///< of each execute: its bytes, or those of its preload, and all that is held
    std::vector<int64_t> own_;  ///< of each execute: its bytes, or those of its preload
    std::vector<Held> held_;
    int32_t blocked_until_ = 0;  ///< the next preload waits for the end of the execute before this one
    int64_t work_ = 0;

    std::vector<RowChange> old_rows_;
    std::vector<LeadChange> old_leads_;
    std::vector<Move> old_moves_;
};

}  // namespace tessera::chip
