#include "support/solver_status.h"

#include <gtest/gtest.h>

namespace tessera {
namespace {

TEST(SolverStatus, HasANameForUsers) {
    EXPECT_EQ(name(SolverStatus::kOptimal), "optimal");
    EXPECT_EQ(name(SolverStatus::kFeasible), "feasible");
    EXPECT_EQ(name(SolverStatus::kInfeasible), "infeasible");
    EXPECT_EQ(name(SolverStatus::kOutOfBudget), "out of budget");
}

}  // namespace
}  // namespace tessera
