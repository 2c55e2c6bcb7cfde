#include "chip/earliest_timeline.h"

#include <cmath>

#include <gtest/gtest.h>

#include "chip/random_tables.h"

namespace tessera::chip {
namespace {

Choice first_rows(const ScheduleProblem& problem) {
    Choice choice;
    for (const size_t row : plain_schedule(problem).rows) choice.row.push_back(static_cast<int32_t>(row));
    choice.queue = carriers(problem);
    choice.lead.assign(problem.size(), Choice::kAnyLead);
    return choice;
}

/// A change of any kind, kept if it is no more than a little worse.
class RandomChanges {
public:
    RandomChanges(const ScheduleProblem& problem, EarliestTimeline& timeline, unsigned seed)
        : problem_(problem), timeline_(timeline), random_(seed) {}

    bool make() {
        const auto& queue = timeline_.choice().queue;
        rows_.clear();
        leads_.clear();
        moves_.clear();
        for (size_t parts = 1 + random_.below(2); parts > 0; --parts) {
            const size_t kind = random_.below(4);
            const size_t i = random_.below(problem_.size());
            const size_t row = random_.below(problem_.at(i).rows.size());
            const bool is_new = rows_.empty() || rows_[0].position != static_cast<int32_t>(i);
            if (kind < 2 && is_new && problem_.is_usable(problem_.at(i).rows[row]))
                rows_.push_back({static_cast<int32_t>(i), static_cast<int32_t>(row)});
            if (kind == 2 && !queue.empty() && leads_.empty())
                leads_.push_back(
                    {queue[random_.below(queue.size())],
                     random_.below(2) == 0 ? Choice::kAnyLead : static_cast<int32_t>(random_.below(5))});
            if (kind == 3 && !queue.empty() && moves_.empty()) {
                const EarliestTimeline::Move move{static_cast<int32_t>(random_.below(queue.size())),
                                                  static_cast<int32_t>(random_.below(queue.size()))};
                if (timeline_.may_move(move)) moves_.push_back(move);
            }
        }
        const double before = timeline_.total();
        const double after = timeline_.attempt({rows_, leads_, moves_});
        if (after <= before * 1.1) {
            timeline_.keep();
            return true;
        }
        timeline_.undo();
        return false;
    }

private:
    const ScheduleProblem& problem_;
    EarliestTimeline& timeline_;
    RandomTables random_;
    std::vector<EarliestTimeline::RowChange> rows_;
    std::vector<EarliestTimeline::LeadChange> leads_;
    std::vector<EarliestTimeline::Move> moves_;
};

TEST(EarliestTimeline, AgreesWithTheEvaluatorAfterEveryChange) {
    size_t kept = 0;
    for (unsigned seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE(seed);
        const ScheduleProblem problem =
            RandomTables(seed).make({.most_positions = 12, .most_rows = 4, .copies = 3});
        EarliestTimeline timeline(problem, first_rows(problem));
        RandomChanges changes(problem, timeline, seed + 1000);
        for (int i = 0; i < 60; ++i) {
            if (!changes.make()) continue;
            ++kept;
            const Schedule schedule = timeline.schedule();
            ASSERT_EQ(schedule_fault(problem, schedule), "");
            const double total = run_schedule(problem, schedule).total;
            ASSERT_NEAR(timeline.total(), total, 1e-9 * total);
            // A trial keeps the timeline that a fresh one has.
            const EarliestTimeline fresh(problem, timeline.choice());
            ASSERT_NEAR(fresh.total(), total, 1e-9 * total);
            ASSERT_EQ(fresh.schedule().slots, schedule.slots);
        }
    }
    EXPECT_GT(kept, 1000u);
}

TEST(EarliestTimeline, UndoLeavesEverythingAsItWas) {
    const ScheduleProblem problem = RandomTables(7).make({.most_positions = 12, .most_rows = 4, .copies = 3});
    EarliestTimeline timeline(problem, first_rows(problem));
    const Schedule before = timeline.schedule();
    const double total = timeline.total();
    const std::vector<EarliestTimeline::LeadChange> leads = {{timeline.choice().queue.back(), 0}};
    const std::vector<EarliestTimeline::Move> moves = {{0, 1}};
    ASSERT_TRUE(timeline.may_move(moves[0]));
    (void)timeline.attempt({{}, leads, moves});
    timeline.undo();
    EXPECT_EQ(timeline.schedule(), before);
    EXPECT_EQ(timeline.total(), total);
    EXPECT_EQ(timeline.attempt({}), total);
}

// Operator 1 is preloaded first and fills the SRAM, so operator 0 never gets its preload.
TEST(EarliestTimeline, AnOrderThatDeadlocksTakesForever) {
    const Row row{.preload_bytes = 600, .exec_bytes = 600, .compute = 10, .hbm = 5, .link_in = 5};
    const ScheduleProblem problem{
        .sram_bytes = 1000, .operators = {{"op", {row}}}, .sequence = {0, 0}, .repeats = {}};
    Choice choice = first_rows(problem);
    EXPECT_EQ(EarliestTimeline(problem, choice).total(), 30);
    std::swap(choice.queue[0], choice.queue[1]);
    EXPECT_TRUE(std::isinf(EarliestTimeline(problem, choice).total()));
}

}  // namespace
}  // namespace tessera::chip
