#pragma once

#include <vector>

#include "instance_builder.h"
#include "ir/ops/weight_format.h"
#include "machine/machine.h"

namespace tessera {

struct ProductShape {
    const char* model;
    int64_t outputs, inputs;
};

/// x[rows, inputs], rounded as by default, times a weight [outputs, inputs] of operands "w_..", the result
/// being "y".
Instance product(const machine::Machine& machine, ops::WeightFormat weight, int64_t rows,
                 const ProductShape& shape);

/// Products of every kind of weight with one and many rows in the shapes of SmolLM2-135M, Qwen3-0.6B and
/// 1.7B; attention at several depths; norms, maps, rotations and the rounding of activations.
std::vector<Instance> instances(const machine::Machine& machine);

}  // namespace tessera
