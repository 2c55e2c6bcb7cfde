#pragma once

#include "movement/program.h"
#include "plan/constants.h"
#include "plan/plan.h"

namespace tessera {

/// Makes every loop, address and micro-kernel call of one specialisation explicit. Reads decisions from the plan alone.
/// @pre the graph is decomposed and the plan's buffers are placed.
/// @throws Error naming the operator where the plan is illegal: a producer that cannot be computed by tiles, lanes that lie
/// irregularly, a micro-kernel that does not implement its operator.
Program lower(const Graph& graph, const Plan& plan, const SpecialisationPlan& specialisation,
              const ConstantSection& constants);

}  // namespace tessera
