#include "chip/plan_schedule.h"
#include "chip/read_schedule_problem.h"
#include "chip/timeline.h"
#include "fuzz/target.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tessera;
    using namespace tessera::chip;
    return fuzz::accepts_or_throws_error([&] {
        const ScheduleProblem problem = read_schedule_problem(fuzz::text_of(data, size), "fuzz");
        if (problem.size() > 200) return;
        const PlanResult result = plan_schedule(problem, {.work = 300});
        TESSERA_CHECK(result.has_schedule() == !infeasible_position(problem));
        if (!result.has_schedule()) return;
        TESSERA_CHECK(schedule_fault(problem, result.schedule).empty());
        TESSERA_CHECK(result.bound <= result.total * (1 + 1e-9), "{} {}", result.bound, result.total);
        TESSERA_CHECK(result.bound >= resource_bounds(problem).largest() * (1 - 1e-9));
    });
}

std::vector<std::string> tessera::fuzz::seeds() {
    return {};
}
