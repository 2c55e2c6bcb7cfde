#pragma once

#include <string>
#include <vector>

#include "fuzz/programs/program.h"

namespace tessera::fuzz {

/// One tensor that a program leaves behind, and how far each element may be from it.
struct ExpectedTensor {
    std::string name;  ///< of the output or the state
    ElementType type = ElementType::kF32;
    TensorData data;
    /// 0: exactly this, the sign of a zero included; infinite: anything.
    std::vector<double> tolerance;
};

/// The results that a call must give: outputs in order, then states by name. They come from the interpreter
/// of graphs; tolerances allow for what rounding may do (expected.cpp).
struct Expected {
    std::vector<ExpectedTensor> outputs, states;
};
Expected expected_of(const Program& program);

/// All values of the graph, as its interpreter computes them.
std::vector<TensorData> values_of(const Program& program);

/// The first element that is outside of its tolerance; empty if there is none.
std::string difference(const Expected& expected, const GraphResult& got);

/// How many elements must be equal bit by bit, may differ by rounding, may be anything.
struct Strictness {
    int64_t exact = 0, rounded = 0, open = 0;
};
Strictness strictness_of(const Expected& expected);

}  // namespace tessera::fuzz
