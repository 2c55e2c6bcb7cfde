#include "support/solver_status.h"

#include "support/error.h"

namespace tessera {

std::string_view name(SolverStatus status) {
    switch (status) {
        case SolverStatus::kOptimal:
            return "optimal";
        case SolverStatus::kFeasible:
            return "feasible";
        case SolverStatus::kInfeasible:
            return "infeasible";
        case SolverStatus::kOutOfBudget:
            return "out of budget";
    }
    TESSERA_CHECK(false);
}

}  // namespace tessera
