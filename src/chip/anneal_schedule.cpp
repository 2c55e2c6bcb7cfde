// Simulated annealing over rows, preload order and leads.
//
// A change costs what it changes (earliest_timeline.h), so that millions of them are tried. Losses are
// accepted with probability exp(-loss / temperature), and the temperature falls geometrically with the work
// that is done. Copies of a repeat are the layers of a model: a change that is good in one is mostly good in
// all, so a part of the changes is made in all at once.

#include "chip/anneal_schedule.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace tessera::chip {
namespace {

using RowChange = EarliestTimeline::RowChange;
using LeadChange = EarliestTimeline::LeadChange;
using Move = EarliestTimeline::Move;

constexpr int32_t kFarthestMove = 6;     ///< entries of the queue
constexpr int32_t kPartnerDistance = 8;  ///< entries between two rows that change together
constexpr int64_t kQuestionEvery = 256;  ///< changes

class Annealer {
public:
    Annealer(const ScheduleProblem& problem, const Choice& start, const AnnealOptions& options)
        : problem_(problem),
          options_(options),
          timeline_(problem, start),
          best_(start),
          random_(options.seed) {
        for (const Operator& each : problem.operators) {
            usable_.emplace_back();
            for (size_t k = 0; k < each.rows.size(); ++k)
                if (problem.is_usable(each.rows[k])) usable_.back().push_back(static_cast<int32_t>(k));
        }
        for (size_t i = 0; i < problem.size(); ++i)
            if (usable_[problem.sequence[i]].size() > 1) choosable_.push_back(static_cast<int32_t>(i));
    }

    Choice run() {
        const size_t entries = best_.queue.size();
        double best_total = timeline_.total();
        const double unit = best_total / static_cast<double>(std::max<size_t>(1, entries));
        const double cooling = std::log(options_.last_temperature / options_.first_temperature);
        const bool can_change = (options_.change_rows && !choosable_.empty()) ||
                                (options_.change_order && entries > 1) ||
                                (options_.change_leads && entries > 0);
        if (!can_change) return best_;
        const int64_t begin = timeline_.work();
        double temperature = 0;
        // A change that is drawn but cannot be made counts as well, so that the loop ends.
        for (int64_t tries = 0;; ++tries) {
            const int64_t done = timeline_.work() - begin + tries / 8;
            if (done >= options_.work) break;
            if (tries % kQuestionEvery == 0) {
                if (options_.must_stop && options_.must_stop()) break;
                temperature =
                    unit * options_.first_temperature *
                    std::exp(cooling * static_cast<double>(done) / static_cast<double>(options_.work));
            }
            if (!draw()) continue;
            const double before = timeline_.total();
            const double after = timeline_.attempt({rows_, leads_, moves_});
            if (after <= before || below(1.0) < std::exp((before - after) / temperature)) {
                timeline_.keep();
                if (after < best_total * (1 - 1e-12)) {
                    best_total = after;
                    best_ = timeline_.choice();
                }
            } else {
                timeline_.undo();
            }
        }
        return std::move(best_);
    }

private:
    // Not those of the standard library, whose numbers differ between libraries.
    size_t below(size_t count) { return static_cast<size_t>(random_() % count); }
    double below(double most) { return most * static_cast<double>(random_() >> 11) * 0x1p-53; }

    /// One change of a kind by chance. @return false if it cannot be made
    bool draw() {
        rows_.clear();
        leads_.clear();
        moves_.clear();
        const bool is_tied = options_.tie_copies && !problem_.repeats.empty() && below(size_t{8}) == 0;
        const size_t kind = below(size_t{16});
        if (kind < 10) return options_.change_rows && draw_rows(is_tied, kind);
        if (kind < 14) return options_.change_order && draw_move(is_tied);
        return options_.change_leads && draw_lead(is_tied);
    }

    /// Calls `change` for the position, or for its copies in all passes of its repeat.
    template <typename ChangeOne>
    void each_copy(int32_t position, bool is_tied, ChangeOne&& change) {
        if (is_tied)
            for (const Repeat& repeat : problem_.repeats) {
                const auto p = static_cast<size_t>(position);
                if (p < repeat.first || p >= repeat.first + repeat.count * repeat.length) continue;
                const size_t offset = (p - repeat.first) % repeat.length;
                for (size_t c = 0; c < repeat.count; ++c)
                    change(static_cast<int32_t>(repeat.first + c * repeat.length + offset));
                return;
            }
        change(position);
    }

    void change_row(int32_t position, bool is_tied) {
        const auto& usable = usable_[problem_.sequence[static_cast<size_t>(position)]];
        const int32_t row = usable[below(usable.size())];
        each_copy(position, is_tied, [&](int32_t p) {
            if (timeline_.choice().row[static_cast<size_t>(p)] != row) rows_.push_back({p, row});
        });
    }

    bool draw_rows(bool is_tied, size_t kind) {
        if (choosable_.empty()) return false;
        const size_t at = below(choosable_.size());
        change_row(choosable_[at], is_tied);
        if (kind >= 5) {
            const size_t other = at + 1 + below(size_t{kPartnerDistance});
            if (other < choosable_.size()) change_row(choosable_[other], is_tied);
            // A tied change of neighbours may name a position twice.
            if (is_tied) drop_repeated();
        }
        if (kind == 9) (void)draw_move(is_tied);
        return !rows_.empty();
    }

    void drop_repeated() {
        std::stable_sort(rows_.begin(), rows_.end(),
                         [](const RowChange& a, const RowChange& b) { return a.position < b.position; });
        rows_.erase(
            std::unique(rows_.begin(), rows_.end(),
                        [](const RowChange& a, const RowChange& b) { return a.position == b.position; }),
            rows_.end());
    }

    bool draw_move(bool is_tied) {
        const auto& queue = timeline_.choice().queue;
        if (queue.empty()) return false;
        const int32_t position = queue[below(queue.size())];
        const auto far = static_cast<int32_t>(1 + below(size_t{kFarthestMove}));
        const int32_t by = below(size_t{2}) == 0 ? far : -far;
        const auto add = [&](int32_t p) {
            const Move move{timeline_.place(p), timeline_.place(p) + by};
            if (timeline_.may_move(move)) moves_.push_back(move);
        };
        // Moves of copies are made one after the other; copies that are close would disturb each other.
        each_copy(position, is_tied, add);
        for (size_t i = 1; i < moves_.size(); ++i)
            if (std::abs(moves_[i].from - moves_[i - 1].from) <= 2 * kFarthestMove) {
                moves_.clear();
                break;
            }
        return !moves_.empty();
    }

    bool draw_lead(bool is_tied) {
        const auto& queue = timeline_.choice().queue;
        if (queue.empty()) return false;
        const int32_t position = queue[below(queue.size())];
        const int32_t lead =
            below(size_t{3}) == 0 ? Choice::kAnyLead : static_cast<int32_t>(below(size_t{32}));
        each_copy(position, is_tied, [&](int32_t p) {
            if (timeline_.choice().lead[static_cast<size_t>(p)] != lead) leads_.push_back({p, lead});
        });
        return !leads_.empty();
    }

    const ScheduleProblem& problem_;
    const AnnealOptions& options_;
    EarliestTimeline timeline_;
    Choice best_;
    std::mt19937_64 random_;
    std::vector<std::vector<int32_t>> usable_;  ///< rows of each operator
    std::vector<int32_t> choosable_;            ///< positions with more than one
    std::vector<RowChange> rows_;
    std::vector<LeadChange> leads_;
    std::vector<Move> moves_;
};

}  // namespace

Choice anneal_schedule(const ScheduleProblem& problem, const Choice& start, const AnnealOptions& options) {
    return Annealer(problem, start, options).run();
}

}  // namespace tessera::chip
