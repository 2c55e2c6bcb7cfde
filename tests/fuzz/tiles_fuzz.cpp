#include "fuzz/target.h"
#include "search/tiles/evaluate.h"
#include "search/tiles/read_problem.h"
#include "search/tiles/solve.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tessera;
    using namespace tessera::tiles;
    return fuzz::accepts_or_throws_error([&] {
        const Problem problem = read_problem(fuzz::text_of(data, size), "fuzz");
        const Solution solution = solve(problem, {.nodes = 50});
        TESSERA_CHECK(solution.nodes <= 50 && solution.bound >= 0);
        if (solution.has_values()) {
            const Evaluation evaluation = evaluate(problem, solution.values);
            TESSERA_CHECK(evaluation.is_feasible() && evaluation.cost == solution.cost);
            TESSERA_CHECK(solution.bound <= solution.cost);
        }
    });
}

std::vector<std::string> tessera::fuzz::seeds() {
    return {};
}
