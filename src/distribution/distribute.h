#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "distribution/boxes.h"
#include "distribution/choices.h"
#include "distribution/problem.h"
#include "support/solver_status.h"

/// Auto Distribution (paper 000, 3.1.3): the cheapest signatures and boxes of a graph on nested devices.
namespace tessera::distribution {

using Status = SolverStatus;

struct DistributeOptions {
    int64_t nodes = 20'000'000;  ///< beginnings of plans that are looked at, at most
    // Inferences. Each shrinks searches and keeps the optimum (docs/distribution.md).
    bool tighten = true;         ///< lets operators and values agree on prices of forms
    bool remove_choices = true;  ///< drops choices that no better plan can have
    bool weigh_memory = true;    ///< bounds seconds + lambda x memory
};

/// The forms of one value.
struct ValuePlan {
    Form made;               ///< the first form
    std::vector<Box> boxes;  ///< each source is there before
};

struct DistributionPlan {
    std::vector<Choice> operators;  ///< as Problem::operators
    std::vector<ValuePlan> values;  ///< as Problem::values
    double seconds = 0;
    int64_t units = 0;  ///< memory of one device (Problem::bytes)
};

struct Distribution {
    Status status = Status::kOptimal;
    /// Infeasible and out of budget: the plan of the least memory (that was found), which is more than there
    /// is.
    DistributionPlan plan;
    double bound = 0;   ///< no valid plan takes fewer seconds; within 1e-9 of the plan's where optimal
    int64_t nodes = 0;  ///< work done

    bool has_plan() const { return status == Status::kOptimal || status == Status::kFeasible; }
    double gap() const { return plan.seconds > 0 ? (plan.seconds - bound) / plan.seconds : 0; }
};

/// Finds the plan of the least seconds within the memory, and proves it. Exact, anytime and deterministic
/// (docs/distribution.md). @throws Error if an operator has too many choices
Distribution distribute(const Problem& problem, const DistributeOptions& options = {});

/// The choices of each operator, as derive_choices.
using OperatorChoices = std::vector<std::vector<Choice>>;
/// The same with these choices alone. @throws Error if no plan is found and some operator may not do the same
/// on all devices
Distribution distribute_choices(const Problem& problem, const OperatorChoices& choices,
                                const DistributeOptions& options = {});

/// The time and the memory of a plan, added up anew.
double seconds_of(const DistributionPlan& plan);
int64_t units_of(const Problem& problem, const DistributionPlan& plan);
/// The memory of all forms of one value.
int64_t units_of(const Problem& problem, const Value& value, const ValuePlan& plan);

}  // namespace tessera::distribution
