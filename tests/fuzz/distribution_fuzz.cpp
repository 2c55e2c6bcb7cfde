#include <algorithm>

#include "distribution/distribute.h"
#include "distribution/read_problem.h"
#include "distribution/report.h"
#include "fuzz/seeds.h"
#include "fuzz/target.h"

namespace {

/// True if its operators are small enough to be distributed many times a second.
bool is_small(const tessera::distribution::Problem& problem) {
    return problem.operators.size() <= 4 && problem.placement.rank() <= 2 &&
           problem.placement.devices() <= 64 &&
           std::ranges::all_of(problem.operators, [](const tessera::distribution::Operator& op) {
               int64_t points = 1;
               for (const int64_t extent : op.bound.extents.iterators) points *= extent;
               return points <= 4096 && op.bound.extents.iterators.size() <= 5;
           });
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tessera;
    using namespace tessera::distribution;
    return fuzz::accepts_or_throws_error([&] {
        const Problem problem = read_problem(fuzz::text_of(data, size), "fuzz");
        if (!is_small(problem)) return;
        const Distribution found = distribute(problem, {.nodes = 2000});
        TESSERA_CHECK(found.plan.units == units_of(problem, found.plan));
        (void)json_text(problem, found);
        (void)report(problem, found);
    });
}

std::vector<std::string> tessera::fuzz::seeds() {
    return repository_files("docs", ".dist");
}
