#pragma once

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include <fmt/core.h>

#include "chip/schedule_problem.h"
#include "chip/timeline.h"

namespace tessera::chip {

struct TableShape {
    size_t most_positions = 5;
    size_t most_rows = 3;
    bool has_contention =
        true;  ///< otherwise appendix A applies: no traffic, one preload size for each operator
    size_t copies = 1;
};

/// Small problems of every share, with operators that preload nothing, rows that do not fit, and ties.
class RandomTables {
public:
    explicit RandomTables(unsigned seed) : random_(seed) {}

    ScheduleProblem make(const TableShape& shape = {}) {
        ScheduleProblem problem;
        problem.sram_bytes = 1024;
        problem.share = kShares[below(std::size(kShares))];
        const double hbm_cycles = pick({0.25, 1, 2}), link_cycles = pick({0.25, 0.5, 1, 2});
        const size_t kinds = 1 + below(shape.most_positions);
        for (size_t o = 0; o < kinds; ++o)
            problem.operators.push_back(make_operator(o, shape, hbm_cycles, link_cycles));
        const size_t positions = 1 + below(shape.most_positions);
        for (size_t i = 0; i < positions; ++i) problem.sequence.push_back(below(kinds));
        if (shape.copies > 1) problem.repeats = {{0, positions, shape.copies}};
        for (size_t c = 1; c < shape.copies; ++c)
            for (size_t i = 0; i < positions; ++i) problem.sequence.push_back(problem.sequence[i]);
        return problem;
    }

    size_t below(size_t count) { return static_cast<size_t>(random_() % count); }

private:
    double pick(std::vector<double> from) { return from[below(from.size())]; }

    Operator make_operator(size_t number, const TableShape& shape, double hbm_cycles, double link_cycles) {
        Operator made{.name = fmt::format("op{}", number), .rows = {}};
        const auto least = static_cast<int64_t>(64 * below(9));
        const size_t rows = 1 + below(shape.most_rows);
        for (size_t k = 0; k < rows; ++k) {
            Row row;
            row.preload_bytes = least + (shape.has_contention ? static_cast<int64_t>(64 * below(4)) : 0);
            // The first row always fits.
            row.exec_bytes = static_cast<int64_t>(64 * below(k == 0 ? 17 : 19));
            row.compute = static_cast<double>(1 + below(800));
            if (shape.has_contention) {
                row.shift = static_cast<double>(below(2) * below(300));
                row.distribute = static_cast<double>(below(2) * below(200));
            }
            row.hbm = static_cast<double>(least) * hbm_cycles;
            row.link_in = static_cast<double>(row.preload_bytes) * link_cycles;
            made.rows.push_back(row);
        }
        return made;
    }

    std::mt19937 random_;
};

/// The least total of all programs, by trying every one of them, or of those with this order of preloads.
class EveryProgram {
public:
    explicit EveryProgram(const ScheduleProblem& problem, std::vector<size_t> order = {})
        : problem_(problem), order_(std::move(order)), is_issued_(problem.size(), false) {
        schedule_.rows.assign(problem.size(), 0);
        schedule_.slots.assign(problem.size(), 0);
        choose_row(0);
    }

    /// Infinite if none is valid.
    double least() const { return least_; }

private:
    void choose_row(size_t i) {
        if (i == problem_.size()) {
            extend(0);
            return;
        }
        for (size_t k = 0; k < problem_.at(i).rows.size(); ++k) {
            if (!problem_.is_usable(problem_.at(i).rows[k])) continue;
            schedule_.rows[i] = k;
            choose_row(i + 1);
        }
    }

    void extend(size_t executed) {
        const size_t n = problem_.size();
        if (executed == n) {
            const Timeline timeline = run_schedule(problem_, schedule_);
            if (!timeline.excess) least_ = std::min(least_, timeline.total);
            return;
        }
        for (size_t j = 0; j < n; ++j) {
            if (is_issued_[j] || (!order_.empty() && j != order_[schedule_.order.size()])) continue;
            is_issued_[j] = true;
            schedule_.order.push_back(j);
            schedule_.slots[j] = executed;
            extend(executed);
            schedule_.order.pop_back();
            is_issued_[j] = false;
        }
        if (is_issued_[executed]) extend(executed + 1);
    }

    const ScheduleProblem& problem_;
    std::vector<size_t> order_;
    std::vector<bool> is_issued_;
    Schedule schedule_;
    double least_ = std::numeric_limits<double>::infinity();
};

/// The first usable rows, and no overlap at all: valid for every problem that has a schedule.
inline Schedule plain_schedule(const ScheduleProblem& problem) {
    Schedule schedule;
    for (size_t i = 0; i < problem.size(); ++i) {
        const auto& rows = problem.at(i).rows;
        const auto usable =
            std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return problem.is_usable(row); });
        schedule.rows.push_back(static_cast<size_t>(usable - rows.begin()));
        schedule.order.push_back(i);
        schedule.slots.push_back(i);
    }
    return schedule;
}

}  // namespace tessera::chip
