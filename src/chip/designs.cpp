#include "chip/designs.h"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

#include "chip/elk_schedule.h"
#include "chip/timeline.h"

namespace tessera::chip {
namespace {

/// Sizes of the execution space that Static tries.
constexpr size_t kMostStaticSpaces = 64;

std::vector<size_t> in_order(size_t count) {
    std::vector<size_t> order(count);
    for (size_t i = 0; i < count; ++i) order[i] = i;
    return order;
}

/// Keeps the valid schedule of the smallest total.
class Best {
public:
    explicit Best(const ScheduleProblem& problem) : problem_(problem) {}
    void offer(const Schedule& schedule) {
        if (!schedule_fault(problem_, schedule).empty()) return;
        const double total = run_schedule(problem_, schedule).total;
        if (schedule_ && total >= total_) return;
        schedule_ = schedule;
        total_ = total;
    }
    const std::optional<Schedule>& schedule() const { return schedule_; }

private:
    const ScheduleProblem& problem_;
    std::optional<Schedule> schedule_;
    double total_ = 0;
};

/// The usable row with the smallest key, among those within these spaces; none if there is none.
template <typename Key>
std::optional<size_t> best_row(const ScheduleProblem& problem, const Operator& op, int64_t preload_space,
                               int64_t exec_space, const Key& key) {
    std::optional<size_t> best;
    for (size_t r = 0; r < op.rows.size(); ++r) {
        const Row& row = op.rows[r];
        if (!problem.is_usable(row) || row.preload_bytes > preload_space || row.exec_bytes > exec_space)
            continue;
        if (!best || key(row) < key(op.rows[*best])) best = r;
    }
    return best;
}

Schedule basic_schedule(const ScheduleProblem& problem) {
    const auto time = [](const Row& row) { return std::tuple(row.execute(), row.preload_bytes); };
    Schedule schedule{.rows = {}, .order = in_order(problem.size()), .slots = {}};
    int64_t left = problem.sram_bytes;
    for (size_t i = 0; i < problem.size(); ++i) {
        auto row = best_row(problem, problem.at(i), left, problem.sram_bytes, time);
        schedule.slots.push_back(row && i > 0 ? i - 1 : i);
        if (!row) row = best_row(problem, problem.at(i), problem.sram_bytes, problem.sram_bytes, time);
        schedule.rows.push_back(*row);
        left = problem.sram_bytes - problem.at(i).rows[*row].exec_bytes;
    }
    return schedule;
}

/// Preloads are issued as early as the preload space allows: those that wait for their execute share it.
std::optional<Schedule> static_schedule(const ScheduleProblem& problem, int64_t exec_space, bool is_large) {
    const int64_t preload_space = problem.sram_bytes - exec_space;
    const auto key = [&](const Row& row) {
        return std::tuple(row.compute + row.shift, is_large ? -row.preload_bytes : row.preload_bytes);
    };
    std::vector<size_t> row_of;
    for (const Operator& op : problem.operators) {
        const auto row = best_row(problem, op, preload_space, exec_space, key);
        if (!row) return std::nullopt;
        row_of.push_back(*row);
    }
    Schedule schedule{.rows = {}, .order = in_order(problem.size()), .slots = {}};
    int64_t held = 0;
    size_t slot = 0;  // executes before it have freed their preloads
    for (size_t i = 0; i < problem.size(); ++i) {
        const size_t row = row_of[problem.sequence[i]];
        const int64_t bytes = problem.at(i).rows[row].preload_bytes;
        while (held + bytes > preload_space && slot < i) {
            held -= problem.at(slot).rows[schedule.rows[slot]].preload_bytes;
            ++slot;
        }
        held += bytes;
        schedule.rows.push_back(row);
        schedule.slots.push_back(slot);
    }
    return schedule;
}

void offer_static(const ScheduleProblem& problem, Best& best, const std::function<bool()>& must_stop) {
    std::set<int64_t> spaces;
    for (const Operator& op : problem.operators)
        for (const Row& row : op.rows)
            if (row.exec_bytes <= problem.sram_bytes) spaces.insert(row.exec_bytes);
    // An even choice of the sizes at which something changes.
    const std::vector<int64_t> all(spaces.begin(), spaces.end());
    const size_t tried = std::min(all.size(), kMostStaticSpaces);
    for (size_t k = 0; k < tried; ++k) {
        if (must_stop && must_stop()) return;
        const int64_t space = all[tried == 1 ? all.size() - 1 : k * (all.size() - 1) / (tried - 1)];
        for (const bool is_large : {false, true})
            if (const auto schedule = static_schedule(problem, space, is_large)) best.offer(*schedule);
    }
}

}  // namespace

std::string_view name(Design design) {
    switch (design) {
        case Design::kBasic:
            return "basic";
        case Design::kStatic:
            return "static";
        case Design::kElkDyn:
            return "elk-dyn";
        case Design::kElkFull:
            return "elk-full";
        case Design::kSearch:
            return "search";
        case Design::kIdeal:
            break;
    }
    return "ideal";
}

std::optional<Design> design_of(std::string_view name) {
    for (const Design design : kDesigns)
        if (chip::name(design) == name) return design;
    return std::nullopt;
}

std::optional<DesignedSchedule> schedule_by_design(const ScheduleProblem& problem, Design design,
                                                   const std::function<bool()>& must_stop) {
    if (design == Design::kElkDyn || design == Design::kElkFull) {
        ElkOptions options{.orders = {}, .must_stop = must_stop};
        if (design == Design::kElkDyn) options.orders.most_orders = 1;
        auto found = elk_schedule(problem, options);
        if (!found) return std::nullopt;
        return DesignedSchedule{std::move(found->schedule), found->orders, found->edit_distance};
    }
    Best best(problem);
    if (design == Design::kBasic) best.offer(basic_schedule(problem));
    if (design == Design::kStatic) offer_static(problem, best, must_stop);
    if (!best.schedule()) return std::nullopt;
    return DesignedSchedule{.schedule = *best.schedule()};
}

double ideal_total(const ScheduleProblem& problem) {
    double preloaded = 0, executed = 0;
    for (size_t i = 0; i < problem.size(); ++i) {
        double preload = std::numeric_limits<double>::infinity(), execute = preload;
        for (const Row& row : problem.at(i).rows) {
            if (!problem.is_usable(row)) continue;
            preload = std::min(preload, row.preload());
            execute = std::min(execute, row.compute + row.shift);
        }
        preloaded += preload;
        executed = std::max(executed, preloaded) + execute;
    }
    return executed;
}

}  // namespace tessera::chip
