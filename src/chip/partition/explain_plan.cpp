#include "chip/partition/explain_plan.h"

#include <algorithm>
#include <cmath>

#include "chip/earliest_timeline.h"
#include "chip/timeline.h"

namespace tessera::partition {
namespace {

/// The decisions of a schedule. `is_bound`: no preload is issued earlier than it is.
chip::Choice choice_of(const chip::ScheduleProblem& problem, const chip::Schedule& schedule, bool is_bound) {
    chip::Choice choice;
    for (const size_t row : schedule.rows) choice.row.push_back(static_cast<int32_t>(row));
    const std::vector<int32_t> carriers = chip::carriers(problem);
    for (const size_t position : schedule.order)
        if (std::binary_search(carriers.begin(), carriers.end(), static_cast<int32_t>(position)))
            choice.queue.push_back(static_cast<int32_t>(position));
    for (size_t i = 0; i < problem.size(); ++i)
        choice.lead.push_back(is_bound ? static_cast<int32_t>(i - schedule.slots[i])
                                       : chip::Choice::kAnyLead);
    return choice;
}

/// The total of a choice by the evaluator; none if it is not valid.
std::optional<double> total_of(const chip::ScheduleProblem& problem, const chip::Choice& choice) {
    const chip::EarliestTimeline timeline(problem, choice);
    if (!std::isfinite(timeline.total())) return std::nullopt;
    const chip::Schedule schedule = timeline.schedule();
    if (!chip::schedule_fault(problem, schedule).empty()) return std::nullopt;
    return chip::run_schedule(problem, schedule).total;
}

/// The better one of two that may be none.
std::optional<double> smaller(std::optional<double> a, std::optional<double> b) {
    if (!a || !b) return a ? a : b;
    return std::min(*a, *b);
}

}  // namespace

std::vector<Alternative> other_rows(const chip::ScheduleProblem& problem, const chip::Schedule& schedule,
                                    size_t op) {
    std::vector<Alternative> found;
    for (size_t row = 0; row < problem.operators[op].rows.size(); ++row) {
        bool is_chosen = true;
        chip::Schedule other = schedule;
        for (size_t i = 0; i < problem.size(); ++i) {
            if (problem.sequence[i] != op) continue;
            is_chosen = is_chosen && schedule.rows[i] == row;
            other.rows[i] = row;
        }
        if (is_chosen) continue;
        Alternative alternative{.row = row, .lead = std::nullopt, .total = std::nullopt};
        if (problem.is_usable(problem.operators[op].rows[row]))
            alternative.total = smaller(total_of(problem, choice_of(problem, other, true)),
                                        total_of(problem, choice_of(problem, other, false)));
        found.push_back(alternative);
    }
    std::stable_sort(found.begin(), found.end(), [](const Alternative& a, const Alternative& b) {
        return a.total && (!b.total || *a.total < *b.total);
    });
    return found;
}

std::vector<Alternative> shorter_leads(const chip::ScheduleProblem& problem, const chip::Schedule& schedule,
                                       size_t position) {
    std::vector<Alternative> found;
    const size_t now = position - schedule.slots[position];
    for (size_t lead = 0; lead < now; lead = std::max<size_t>(1, 2 * lead)) {
        chip::Choice choice = choice_of(problem, schedule, true);
        for (size_t i = 0; i < problem.size(); ++i)
            if (problem.sequence[i] == problem.sequence[position])
                choice.lead[i] = std::min(choice.lead[i], static_cast<int32_t>(lead));
        found.push_back({schedule.rows[position], lead, total_of(problem, choice)});
    }
    return found;
}

}  // namespace tessera::partition
