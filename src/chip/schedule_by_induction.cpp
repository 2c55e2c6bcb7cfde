// Two-level inductive scheduling, paper 003, sections 4.2 and 4.3.
//
// Times count from the end of the program backwards: the "current-to-end" times of figure 10. Say everything
// after execute i is placed, and of the preloads those from `placed` on in their order, the one before them
// in part. If the first `count` preloads of the order may run before or during execute i, those from `count`
// on must not (theorem 4.2):
//
//     end of execute i = min(begin of execute i + 1, begin of the preload at `count`)
//
// The allocation (4.3) finds rows that fit beside each other: one for execute i, and smaller preloads for the
// operators that are held meanwhile. Execute i then takes its time and that of the added distribution, and
// beside it run the preloads before `count`, as late as the executes that need them allow. Where both fill
// the link, they slow each other down by the rule of the chip. The count with the latest begin is kept.
//
// The allocation minimises the four terms of 4.3. Those of one plan:
//
//     execution time      compute
//     data distribution   distribute
//     contention          link price x (link time of the preload + shift + distribute): traffic by bandwidth
//     memory access       shift: cores do not compute while others read their SRAM, as on an IPU

#include "chip/schedule_by_induction.h"

#include <algorithm>
#include <limits>

#include "chip/allocate_memory.h"
#include "chip/timeline.h"

namespace tessera::chip {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// The Pareto-optimal plans of an operator (4.3, stage 1).
struct OperatorFronts {
    std::vector<MemoryPoint> execute;               ///< tradeoff 1: execute-state plans
    std::vector<std::vector<MemoryPoint>> preload;  ///< tradeoffs 2 and 3, of each row: preload-state plans
};

OperatorFronts fronts_of(const ScheduleProblem& problem, const Operator& op, double link_price) {
    OperatorFronts fronts;
    const auto cost = [&](const Row& row) {
        return row.execute() + link_price * (row.traffic() + row.link_in);
    };
    std::vector<MemoryPoint> executes;
    for (size_t k = 0; k < op.rows.size(); ++k) {
        const Row& row = op.rows[k];
        std::vector<MemoryPoint> preloads;
        if (problem.is_usable(row)) {
            executes.push_back({row.exec_bytes, cost(row), k});
            for (size_t p = 0; p < op.rows.size(); ++p)
                if (const Row& other = op.rows[p]; other.exec_bytes == row.exec_bytes &&
                                                   other.compute == row.compute && other.shift == row.shift &&
                                                   other.preload_bytes <= row.preload_bytes)
                    preloads.push_back({other.preload_bytes, cost(other), p});
        }
        fronts.preload.push_back(memory_front(std::move(preloads)));
    }
    fronts.execute = memory_front(std::move(executes));
    return fronts;
}

class Induction {
public:
    Induction(const ScheduleProblem& problem, const std::vector<size_t>& order,
              const InductionOptions& options)
        : problem_(problem),
          order_(order),
          size_(problem.size()),
          rows_(size_, 0),
          now_{.time = 0, .placed = size_, .part = 1},
          allocation_(problem.sram_bytes) {
        std::vector<size_t> place(size_);
        for (size_t q = 0; q < size_; ++q) place[order[q]] = q;
        size_t needed = 0;
        for (size_t i = 0; i < size_; ++i) {
            needed = std::max(needed, place[i] + 1);
            needed_.push_back(needed);
        }
        for (const Operator& op : problem.operators)
            fronts_.push_back(fronts_of(problem, op, options.link_price));
    }

    std::optional<InductionResult> run() {
        std::vector<size_t> issued(size_);
        for (size_t i = size_; i-- > 0;) {
            const auto count = place_execute(i);
            if (!count) return std::nullopt;
            issued[i] = *count;
        }
        place_preloads(now_, 0);
        InductionResult result{
            .schedule = {.rows = rows_, .order = order_, .slots = std::vector<size_t>(size_)},
            .total = now_.time};
        size_t q = 0;
        for (size_t i = 0; i < size_; ++i)
            for (; q < issued[i]; ++q) result.schedule.slots[order_[q]] = i;
        return result;
    }

private:
    /// The placed part, from some time to the end.
    struct Placed {
        double time;    ///< to the end
        size_t placed;  ///< preloads of the order from here on
        double part;    ///< of the preload before them that is not placed
    };

    const Row& row(size_t j) const { return problem_.at(j).rows[rows_[j]]; }

    /// Places execute i with the preload number that lets it begin latest. @return the number of preloads
    /// that may run before its end; none if nothing fits
    std::optional<size_t> place_execute(size_t i) {
        allocation_.clear();
        allocation_.add(fronts_[problem_.sequence[i]].execute);
        held_.clear();
        for (size_t q = 0; q < needed_[i]; ++q)
            if (order_[q] > i) hold(order_[q]);
        const size_t first_counted = held_.size();
        std::optional<size_t> best;
        Placed reached{.time = kNever, .placed = 0, .part = 1};
        // Preloads that are placed already begin after execute i anyway.
        for (size_t count = needed_[i]; count <= now_.placed; ++count) {
            if (count > needed_[i]) hold(order_[count - 1]);
            if (!allocation_.fit()) break;
            if (!fits_in_front(i, first_counted)) continue;
            Placed tried = now_;
            place_preloads(tried, count);
            run_beside(i, first_counted, tried);
            if (tried.time >= reached.time) continue;
            reached = tried;
            best = count;
            chosen_.clear();
            for (size_t f = 0; f < allocation_.size(); ++f) chosen_.push_back(allocation_.point(f).row);
        }
        if (!best) return std::nullopt;
        rows_[i] = chosen_[0];
        for (size_t f = 1; f < chosen_.size(); ++f) rows_[held_[f - 1]] = chosen_[f];
        now_ = reached;
        return best;
    }

    /// True if the preload of operator i fits beside those that come before it for later executes. Those that
    /// come after it begin when execute i does.
    bool fits_in_front(size_t i, size_t earlier) const {
        int64_t bytes = problem_.at(i).rows[allocation_.point(0).row].preload_bytes;
        for (size_t f = 1; f <= earlier; ++f) bytes += allocation_.point(f).bytes;
        return bytes <= allocation_.capacity();
    }

    /// The operator waits for its execute, which is placed, while another runs.
    void hold(size_t j) {
        allocation_.add(fronts_[problem_.sequence[j]].preload[rows_[j]]);
        held_.push_back(j);
    }

    /// Places the preloads from `count` on, which nothing runs beside.
    void place_preloads(Placed& now, size_t count) const {
        for (; now.placed > count; --now.placed, now.part = 1)
            now.time += now.part * row(order_[now.placed - 1]).preload();
    }

    /// Places execute i in the rows of the allocation, and beside it the preloads that may run there.
    void run_beside(size_t i, size_t first_counted, Placed& now) const {
        const Row& executed = problem_.at(i).rows[allocation_.point(0).row];
        double distributed = 0;
        for (size_t f = 1; f < allocation_.size(); ++f) {
            const size_t j = held_[f - 1];
            distributed += problem_.at(j).rows[allocation_.point(f).row].distribute - row(j).distribute;
        }
        distributed = std::max(0.0, distributed);
        double left = executed.execute() + distributed;
        const double traffic = executed.traffic() + distributed;
        const LinkUse use{traffic / left, traffic};
        for (; now.placed > needed_[i]; --now.placed, now.part = 1) {
            const size_t held = first_counted + (now.placed - 1 - needed_[i]);
            const Row& preloaded = problem_.at(held_[held]).rows[allocation_.point(held + 1).row];
            const double alone = now.part * preloaded.preload();
            if (alone <= 0) continue;
            const Speeds speed = speeds(problem_.share, use, preloaded.preload_use());
            const double until_executed = speed.execute > 0 ? left / speed.execute : kNever;
            const double until_preloaded = speed.preload > 0 ? alone / speed.preload : kNever;
            if (until_executed < until_preloaded) {
                now.time += until_executed;
                now.part -= until_executed * speed.preload / preloaded.preload();
                return;
            }
            now.time += until_preloaded;
            left -= until_preloaded * speed.execute;
        }
        now.time += std::max(0.0, left);
    }

    const ScheduleProblem& problem_;
    const std::vector<size_t>& order_;
    size_t size_;
    std::vector<size_t> rows_;
    std::vector<size_t> needed_;  ///< of each execute: preloads of the order that must have ended before it
    std::vector<OperatorFronts> fronts_;
    Placed now_;

    // For the execute that is being placed:
    MemoryAllocation allocation_;  ///< the execute, then the held ones
    std::vector<size_t> held_;
    std::vector<size_t> chosen_;  ///< rows of the best preload number
};

}  // namespace

std::optional<InductionResult> schedule_by_induction(const ScheduleProblem& problem,
                                                     const std::vector<size_t>& order,
                                                     const InductionOptions& options) {
    return Induction(problem, order, options).run();
}

}  // namespace tessera::chip
