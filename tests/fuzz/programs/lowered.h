#pragma once

#include "fuzz/programs/expected.h"
#include "fuzz/programs/treatments.h"
#include "lowering/movement/program.h"
#include "lowering/plan/plan.h"

namespace tessera::fuzz {

/// A program as the passes leave it.
struct Lowered {
    Graph graph;  ///< that the plan is of: rewritten, with the copies of the plan
    plan::Plan plan;
    std::vector<movement::Program> programs;  ///< one for each specialisation
    size_t called = 0;                        ///< the one of the program's call

    const plan::SpecialisationPlan& specialisation() const { return plan.specialisations[called]; }
};

/// By way of its text, as `tessera compile` does. @throws Error where that refuses
Lowered lower(const Program& program, const Treatment& treatment);

/// Names and number of the outputs, which passes must keep; empty if they are those of the program.
std::string difference_of_outputs(const Program& program, const Lowered& lowered);

/// By the interpreter of lowered programs. Faults of the run count as differences.
std::string difference_when_interpreted(const Program& program, const Lowered& lowered,
                                        const Expected& expected);

/// Refused, if the error names a part of the program and a reason; else unclear.
Verdict verdict_of(const Error& error, const Program& program);

}  // namespace tessera::fuzz
