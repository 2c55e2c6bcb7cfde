// The instances of ../shared/tiles: each proved, with the cost of optimum.json beside them.
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "search/tiles/evaluate.h"
#include "search/tiles/random_problem.h"
#include "search/tiles/read_problem.h"
#include "search/tiles/solve.h"
#include "support/mapped_file.h"
#include "support/shared_data.h"

namespace tessera::tiles {
namespace {

TEST(SharedTiles, AreSolvedAndProved) {
    TESSERA_SKIP_WITHOUT_SHARED("tiles/optimum.json", "the instances of tile sizes and their optima");
    const auto folder = test::shared_data("tiles");
    const auto listed = nlohmann::json::parse(MappedFile::open((folder / "optimum.json").string()).text());
    ASSERT_GE(listed.size(), 15u);
    for (const auto& [name, line] : listed.items()) {
        SCOPED_TRACE(name);
        const std::string path = (folder / (name + ".json")).string();
        const Problem problem = read_problem(MappedFile::open(path).text(), path);
        // The reference needs 50,219 nodes at most.
        const Solution solution = solve(problem, {.nodes = 10'000});
        if (line["cost"].is_null()) {
            EXPECT_EQ(solution.status, Status::kInfeasible);
            continue;
        }
        ASSERT_EQ(solution.status, Status::kOptimal);
        EXPECT_TRUE(near(solution.cost, line["cost"].get<double>()));
        EXPECT_TRUE(evaluate(problem, solution.values).is_feasible());
        Assignment values;
        for (const Variable& variable : problem.variables) values.push_back(line["values"][variable.name]);
        const Evaluation evaluation = evaluate(problem, values);
        EXPECT_TRUE(evaluation.is_feasible());
        EXPECT_TRUE(near(evaluation.cost, line["cost"].get<double>()));
    }
}

}  // namespace
}  // namespace tessera::tiles
