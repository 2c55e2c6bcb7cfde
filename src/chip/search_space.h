#pragma once

#include <cstddef>

#include "chip/schedule_problem.h"

namespace tessera::chip {

/// The numbers that the planner's time depends on. Source: paper 003, table 2.
struct SearchSpace {
    size_t fitting_heavy = 0;  ///< C: heavy operators of a layer, one after the other, that fit on the chip
    size_t heavy = 0;          ///< H: heavy operators of a layer
    size_t rows = 0;           ///< P: usable plans of the operator with the most
    size_t fitting = 0;        ///< K: operators, one after the other, that fit on the chip
    size_t operators = 0;      ///< N
};

SearchSpace search_space(const ScheduleProblem& problem);

}  // namespace tessera::chip
