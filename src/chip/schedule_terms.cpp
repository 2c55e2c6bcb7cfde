#include "chip/schedule_terms.h"

#include <algorithm>

namespace tessera::chip {

ScheduleTerms terms_of(const ScheduleProblem& problem, const Schedule& schedule, const Timeline& timeline) {
    ScheduleTerms terms;
    double before = 0;
    for (size_t i = 0; i < problem.size(); ++i) {
        const Row& row = problem.at(i).rows[schedule.rows[i]];
        const Span &execute = timeline.executes[i], &preload = timeline.preloads[i];
        terms.compute += row.compute;
        terms.access += row.shift;
        terms.distribute += row.distribute;
        terms.contention += std::max(0.0, execute.end - execute.begin - row.execute());
        terms.wait += execute.begin - before;
        terms.preload_contention += std::max(0.0, preload.end - preload.begin - row.preload());
        before = execute.end;
    }
    return terms;
}

}  // namespace tessera::chip
