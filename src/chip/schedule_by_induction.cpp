// Two-level inductive scheduling, paper 003, section 4.2.
//
// Times count from the end of the program. Say everything after execute i is placed. If the first `issued`
// preloads of the order may run before or during execute i, the next one must not, so
//
//     end of execute i = min(begin of execute i + 1, begin of the preload at `issued`)
//
// and it begins that much earlier as the rows take that the allocation finds beside what is held. The number
// with the latest begin is kept. Then the preloads that execute i waits for are placed, each as late as its
// execute and the preload after it allow.
//
// A preloaded operator keeps the row that its execute was placed with, but may go on to one with a smaller
// preload and a longer distribution of otherwise the same plan; the added time counts with execute i.

#include "chip/schedule_by_induction.h"

#include <algorithm>
#include <limits>

namespace tessera::chip {
namespace {

class Induction {
public:
    Induction(const ScheduleProblem& problem, const std::vector<size_t>& order, const Allocation& allocate)
        : problem_(problem), order_(order), allocate_(allocate), size_(problem.size()), rows_(size_, 0) {
        std::vector<size_t> place(size_);
        for (size_t q = 0; q < size_; ++q) place[order[q]] = q;
        size_t needed = 0;
        for (size_t i = 0; i < size_; ++i) {
            needed = std::max(needed, place[i] + 1);
            needed_.push_back(needed);
        }
    }

    std::optional<InductionResult> run() {
        std::vector<double> execute(size_ + 1, 0),
            preload(size_ + 1, 0);  // begins; the preloads by their order
        std::vector<size_t> issued(size_);
        size_t placed = size_;  // preloads from here on are placed
        for (size_t i = size_; i-- > 0;) {
            if (!place_execute(i, execute, preload, issued)) return std::nullopt;
            const size_t before = i > 0 ? needed_[i - 1] : 0;
            for (; placed > before; --placed) {
                const size_t j = order_[placed - 1];
                preload[placed - 1] =
                    std::min(execute[j], preload[placed]) - problem_.at(j).rows[rows_[j]].preload();
            }
        }
        InductionResult result{
            .schedule = {.rows = rows_, .order = order_, .slots = std::vector<size_t>(size_)},
            .total = -preload[0]};
        size_t q = 0;
        for (size_t i = 0; i < size_; ++i)
            for (; q < issued[i]; ++q) result.schedule.slots[order_[q]] = i;
        return result;
    }

private:
    struct Chosen {
        double time;
        size_t row;                     ///< of the executed operator
        std::vector<size_t> preloaded;  ///< positions, and their rows
        std::vector<size_t> preload_rows;
    };

    bool place_execute(size_t i, std::vector<double>& execute, const std::vector<double>& preload,
                       std::vector<size_t>& issued) {
        double latest = -std::numeric_limits<double>::infinity();
        Chosen best{};
        std::vector<size_t> held;
        for (size_t q = 0; q < needed_[i]; ++q)
            if (order_[q] > i) held.push_back(order_[q]);
        // More than what is issued before the next execute ends would let slots fall.
        const size_t most = i + 1 < size_ ? issued[i + 1] : size_;
        for (size_t count = needed_[i]; count <= most; ++count) {
            if (count > needed_[i] && order_[count - 1] > i) held.push_back(order_[count - 1]);
            std::optional<Chosen> chosen = choose_rows(i, held);
            if (!chosen) break;
            const double begin = std::min(execute[i + 1], preload[count]) - chosen->time;
            if (begin <= latest) continue;
            latest = begin;
            issued[i] = count;
            best = std::move(*chosen);
        }
        if (latest == -std::numeric_limits<double>::infinity()) return false;
        execute[i] = latest;
        rows_[i] = best.row;
        for (size_t p = 0; p < best.preloaded.size(); ++p) rows_[best.preloaded[p]] = best.preload_rows[p];
        return true;
    }

    std::optional<Chosen> choose_rows(size_t i, const std::vector<size_t>& held) const {
        std::vector<std::vector<MemoryPoint>> fronts;
        std::vector<MemoryPoint> points;
        for (size_t k = 0; k < problem_.at(i).rows.size(); ++k)
            if (const Row& row = problem_.at(i).rows[k]; problem_.is_usable(row))
                points.push_back({row.exec_bytes, row.execute(), k});
        fronts.push_back(memory_front(std::move(points)));
        Chosen chosen{};
        int64_t fixed = 0;
        for (const size_t j : held) {
            std::vector<MemoryPoint> front = preload_front(j);
            if (front.size() == 1) {
                fixed += front.front().bytes;
                continue;
            }
            fronts.push_back(std::move(front));
            chosen.preloaded.push_back(j);
        }
        const auto allocated = allocate_(fronts, problem_.sram_bytes - fixed);
        if (!allocated) return std::nullopt;
        for (size_t f = 0; f < fronts.size(); ++f) {
            const MemoryPoint& point = fronts[f][(*allocated)[f]];
            chosen.time += point.time;
            if (f == 0)
                chosen.row = point.row;
            else
                chosen.preload_rows.push_back(point.row);
        }
        return chosen;
    }

    /// Rows of the plan that position j was placed with, by the size of their preload; times are what they
    /// add.
    std::vector<MemoryPoint> preload_front(size_t j) const {
        const auto& rows = problem_.at(j).rows;
        const Row& now = rows[rows_[j]];
        std::vector<MemoryPoint> points;
        for (size_t k = 0; k < rows.size(); ++k) {
            const Row& row = rows[k];
            if (row.exec_bytes == now.exec_bytes && row.compute == now.compute && row.shift == now.shift &&
                row.preload_bytes <= now.preload_bytes && problem_.is_usable(row))
                points.push_back({row.preload_bytes, std::max(0.0, row.distribute - now.distribute), k});
        }
        return memory_front(std::move(points));
    }

    const ScheduleProblem& problem_;
    const std::vector<size_t>& order_;
    const Allocation& allocate_;
    size_t size_;
    std::vector<size_t> rows_;
    std::vector<size_t> needed_;  ///< of each execute: preloads of the order that must have ended before it
};

}  // namespace

std::optional<InductionResult> schedule_by_induction(const ScheduleProblem& problem,
                                                     const std::vector<size_t>& order,
                                                     const Allocation& allocate) {
    return Induction(problem, order, allocate).run();
}

}  // namespace tessera::chip
