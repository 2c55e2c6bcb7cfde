#include "chip/earliest_timeline.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "chip/timeline.h"
#include "support/error.h"

namespace tessera::chip {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
/// A preload or an execute is done if less than this part is left.
constexpr double kNothing = 1e-12;
/// Cycles of a preload that may differ between equal states; far below a total's tolerance.
constexpr double kSameState = 1e-9;

size_t at(int32_t index) {
    return static_cast<size_t>(index);
}

}  // namespace

std::vector<int32_t> carriers(const ScheduleProblem& problem) {
    std::vector<int32_t> result;
    for (size_t i = 0; i < problem.size(); ++i) {
        const auto& rows = problem.at(i).rows;
        if (std::any_of(rows.begin(), rows.end(),
                        [&](const Row& row) { return row.preload_bytes > 0 && problem.is_usable(row); }))
            result.push_back(static_cast<int32_t>(i));
    }
    return result;
}

EarliestTimeline::EarliestTimeline(const ScheduleProblem& problem, Choice choice)
    : problem_(problem),
      size_(static_cast<int32_t>(problem.size())),
      operator_of_(problem.sequence),
      choice_(std::move(choice)) {
    for (const Operator& each : problem.operators) {
        plans_.emplace_back();
        for (const Row& row : each.rows)
            plans_.back().push_back({row.preload_bytes, row.exec_bytes, row.execute(), row.execute_use(),
                                     row.preload(), row.preload_use()});
    }
    place_.assign(at(size_), -1);
    for (size_t q = 0; q < choice_.queue.size(); ++q) place_[at(choice_.queue[q])] = static_cast<int32_t>(q);
    int32_t entries = 0;
    for (int32_t i = 0; i < size_; ++i) {
        rank_.push_back(entries);
        entries += place_[at(i)] >= 0 ? 1 : 0;
    }
    duration_.resize(at(size_));
    state_.resize(at(size_) + 1);
    head_.resize(choice_.queue.size());
    slot_.resize(choice_.queue.size());
    needed_.resize(at(size_));
    own_.resize(at(size_));
    plan_.resize(at(size_));
    for (int32_t i = 0; i < size_; ++i) load(i);
    new_duration_ = duration_;
    new_state_ = state_;
    new_head_ = head_;
    new_slot_ = slot_;
    state_[0] = {0, -1};
    run(0, size_, static_cast<int32_t>(choice_.queue.size()));
    keep();
}

void EarliestTimeline::load(int32_t position) {
    const Plan& own = plans_[operator_of_[at(position)]][at(choice_.row[at(position)])];
    plan_[at(position)] = own;
    const int64_t bytes = std::max(own.exec_bytes, own.preload_bytes);
    needed_[at(position)] += bytes - own_[at(position)];
    own_[at(position)] = bytes;
}

bool EarliestTimeline::may_move(const Move& move) const {
    const auto [low, high] = std::minmax(move.from, move.to);
    if (low < 0 || at(high) >= choice_.queue.size() || low == high) return false;
    if (std::abs(move.to - rank_[at(choice_.queue[at(move.from)])]) > kMostMoved) return false;
    const int32_t by = move.from < move.to ? -1 : 1;
    for (int32_t q = low; q <= high; ++q)
        if (q != move.from && std::abs(q + by - rank_[at(choice_.queue[at(q)])]) > kMostMoved) return false;
    return true;
}

void EarliestTimeline::move(const Move& move) {
    const auto begin = choice_.queue.begin();
    if (move.from < move.to)
        std::rotate(begin + move.from, begin + move.from + 1, begin + move.to + 1);
    else
        std::rotate(begin + move.to, begin + move.from, begin + move.from + 1);
    for (int32_t q = std::min(move.from, move.to); q <= std::max(move.from, move.to); ++q)
        place_[at(choice_.queue[at(q)])] = q;
}

int32_t EarliestTimeline::first_concerned(const Change& change) const {
    int32_t first = size_;
    for (const RowChange& row : change.rows) {
        first = std::min(first, row.position);
        if (const int32_t q = place_[at(row.position)]; q >= 0) first = std::min(first, head_[at(q)]);
        // A preload of a later operator may have to fit beside this execute.
        const int32_t rank = rank_[at(row.position)];
        for (int32_t q = std::max(0, rank - kMostMoved); at(q) < choice_.queue.size(); ++q)
            if (choice_.queue[at(q)] > row.position) {
                first = std::min(first, head_[at(q)]);
                break;
            }
    }
    for (const LeadChange& lead : change.leads)
        if (const int32_t q = place_[at(lead.position)]; q >= 0) first = std::min(first, head_[at(q)]);
    for (const Move& move : change.moves) first = std::min(first, head_[at(std::min(move.from, move.to))]);
    return std::min(first, size_ - 1);
}

double EarliestTimeline::attempt(const Change& change) {
    const int32_t first = first_concerned(change);
    int32_t last_change = 0, last_entry = -1;
    for (const RowChange& row : change.rows) last_change = std::max(last_change, row.position);
    for (const LeadChange& lead : change.leads) last_change = std::max(last_change, lead.position);
    for (const Move& move : change.moves) last_entry = std::max({last_entry, move.from, move.to});
    apply(change);
    run(first, last_change, last_entry);
    return new_total_;
}

void EarliestTimeline::apply(const Change& change) {
    old_rows_.clear();
    old_leads_.clear();
    old_moves_.clear();
    for (const RowChange& row : change.rows) {
        old_rows_.push_back({row.position, choice_.row[at(row.position)]});
        choice_.row[at(row.position)] = row.row;
        load(row.position);
    }
    for (const LeadChange& lead : change.leads) {
        old_leads_.push_back({lead.position, choice_.lead[at(lead.position)]});
        choice_.lead[at(lead.position)] = lead.lead;
    }
    for (const Move& each : change.moves) {
        old_moves_.push_back({each.to, each.from});
        move(each);
    }
}

void EarliestTimeline::undo() {
    for (size_t i = old_moves_.size(); i-- > 0;) move(old_moves_[i]);
    for (size_t i = old_leads_.size(); i-- > 0;)
        choice_.lead[at(old_leads_[i].position)] = old_leads_[i].lead;
    for (size_t i = old_rows_.size(); i-- > 0;) {
        choice_.row[at(old_rows_[i].position)] = old_rows_[i].row;
        load(old_rows_[i].position);
    }
}

void EarliestTimeline::keep() {
    std::copy(new_duration_.begin() + begin_, new_duration_.begin() + end_, duration_.begin() + begin_);
    const int32_t first_entry = state_[at(begin_)].next;
    std::copy(new_state_.begin() + begin_ + 1, new_state_.begin() + end_ + 1, state_.begin() + begin_ + 1);
    const State& last = state_[at(end_)];
    const int32_t last_head = std::min(last.next + 1, static_cast<int32_t>(choice_.queue.size()));
    std::copy(new_head_.begin() + first_entry, new_head_.begin() + last_head, head_.begin() + first_entry);
    // An entry that has not begun keeps its earlier slot.
    const int32_t last_slot = last.left >= 0 ? last.next + 1 : last.next;
    std::copy(new_slot_.begin() + first_entry, new_slot_.begin() + last_slot, slot_.begin() + first_entry);
    total_ = new_total_;
}

void EarliestTimeline::hold(int32_t position, int32_t from_execute) {
    const int64_t bytes = plan(position).preload_bytes;
    for (int32_t m = from_execute; m < position; ++m) needed_[at(m)] += bytes;
    held_.push_back({from_execute, position, bytes});
}

bool EarliestTimeline::fits(int32_t position, int32_t execute, bool is_preloaded) {
    const int64_t most = problem_.sram_bytes - plan(position).preload_bytes;
    for (int32_t m = position - 1; m > execute; --m)
        if (needed_[at(m)] > most) {
            blocked_until_ = m + 1;
            return false;
        }
    if (execute >= position) return true;
    // Once its operator is preloaded, the execute runs or is about to, and replaces the preload.
    int64_t here = needed_[at(execute)];
    if (is_preloaded) here += plan(execute).exec_bytes - own_[at(execute)];
    if (here <= most) return true;
    blocked_until_ = is_preloaded ? execute + 1 : execute;
    return false;
}

/// @return true if a preload is running
bool EarliestTimeline::begin_preloads(int32_t execute, State& state, bool is_preloaded) {
    while (at(state.next) < choice_.queue.size()) {
        const int32_t position = choice_.queue[at(state.next)];
        const Plan& preload = plan(position);
        if (preload.preload_bytes == 0) {
            new_slot_[at(state.next)] = 0;
            if (at(++state.next) < choice_.queue.size()) new_head_[at(state.next)] = execute;
            continue;
        }
        if (execute < blocked_until_) return false;
        if (position - execute > choice_.lead[at(position)] || !fits(position, execute, is_preloaded))
            return false;
        state.left = preload.preload;
        new_slot_[at(state.next)] = execute;
        hold(position, execute);
        return true;
    }
    return false;
}

/// Runs execute `execute` and the preloads beside it until its end. @return true if it ends
bool EarliestTimeline::run_execute(int32_t execute, State& state) {
    const Plan& own = plan(execute);
    const int32_t entry = own.preload_bytes > 0 ? place_[at(execute)] : -1;
    bool is_running = false;
    double left = 0, time = 0;
    while (true) {
        const bool is_preloaded = entry < state.next;
        const bool is_preloading = state.left >= 0 || begin_preloads(execute, state, is_preloaded);
        if (!is_running && entry < state.next) {
            is_running = true;
            left = own.execute;
        }
        if (!is_preloading) {
            if (!is_running) return false;
            new_duration_[at(execute)] = time + left;
            return true;
        }
        const Plan& preload = plan(choice_.queue[at(state.next)]);
        double step = state.left;
        if (is_running) {
            const Speeds speed = speeds(problem_.share, own.execute_use, preload.preload_use);
            const double to_end = speed.execute > 0 ? left / speed.execute : kInfinite;
            const double to_preload = speed.preload > 0 ? state.left / speed.preload : kInfinite;
            step = std::min(to_end, to_preload);
            left = to_end <= step ? 0 : left - step * speed.execute;
            state.left = to_preload <= step ? 0 : state.left - step * speed.preload;
        } else {
            state.left = 0;
        }
        time += step;
        if (state.left <= kNothing * preload.preload) {
            state.left = -1;
            blocked_until_ = 0;
            if (at(++state.next) < choice_.queue.size()) new_head_[at(state.next)] = execute;
        }
        if (is_running && left <= kNothing * own.execute) {
            new_duration_[at(execute)] = time;
            return true;
        }
    }
}

void EarliestTimeline::run(int32_t first_execute, int32_t last_change, int32_t last_entry) {
    begin_ = first_execute;
    new_total_ = total_;
    State state = state_[at(first_execute)];
    new_state_[at(first_execute)] = state;
    if (at(state.next) < choice_.queue.size()) {
        new_head_[at(state.next)] = head_[at(state.next)];
        new_slot_[at(state.next)] = slot_[at(state.next)];
    }
    held_.clear();
    blocked_until_ = 0;
    // Spaces in front of the first execute: preloads that have begun, of operators that are still to run.
    if (state.left >= 0) hold(choice_.queue[at(state.next)], first_execute);
    for (int32_t q = state.next - 1; q >= std::max(0, rank_[at(first_execute)] - kMostMoved); --q)
        if (choice_.queue[at(q)] > first_execute) hold(choice_.queue[at(q)], first_execute);
    for (end_ = first_execute; end_ < size_;) {
        ++work_;
        if (!run_execute(end_, state)) {
            new_total_ = kInfinite;
            break;
        }
        new_total_ += new_duration_[at(end_)] - duration_[at(end_)];
        new_state_[at(++end_)] = state;
        const State& before = state_[at(end_)];
        if (end_ > last_change && state.next > last_entry && state.next == before.next &&
            std::abs(state.left - before.left) <= kSameState)
            break;
    }
    for (const Held& each : held_)
        for (int32_t m = each.first; m < each.last; ++m) needed_[at(m)] -= each.bytes;
}

Schedule EarliestTimeline::schedule() const {
    Schedule result;
    result.slots.assign(at(size_), 0);
    for (int32_t i = 0; i < size_; ++i) {
        result.rows.push_back(at(choice_.row[at(i)]));
        if (place_[at(i)] < 0 || plan(i).preload_bytes == 0) result.order.push_back(at(i));
    }
    for (size_t q = 0; q < choice_.queue.size(); ++q) {
        const int32_t position = choice_.queue[q];
        if (plan(position).preload_bytes == 0) continue;
        result.order.push_back(at(position));
        result.slots[at(position)] = at(slot_[q]);
    }
    return result;
}

}  // namespace tessera::chip
