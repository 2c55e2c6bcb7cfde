#pragma once

#include <cstdint>
#include <string_view>

namespace tessera {

/// The end of a solver's search.
enum class SolverStatus : uint8_t {
    kOptimal,      ///< no solution costs less
    kFeasible,     ///< a valid solution; its bound says how far it may be from the least cost
    kInfeasible,   ///< there is no valid solution
    kOutOfBudget,  ///< none was found, and none is known not to exist
};

/// "optimal", "feasible", "infeasible", "out of budget".
std::string_view name(SolverStatus status);

}  // namespace tessera
