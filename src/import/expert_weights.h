#pragma once

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "import/weights.h"

namespace tessera::import {

/// Matrices that are stored one by one, and are one to the model.
struct ExpertStack {
    std::string name;                ///< of all of them: "model.layers.0.mlp.experts.*.gate_proj.weight"
    std::vector<std::string> parts;  ///< whole names, in order
    bool are_rows = false;           ///< of one matrix: each may have another number of them
};

/// The tensors of a checkpoint, in which the matrices [outputs, inputs] of all experts of a layer, stored one
/// by one, are one matrix [experts * outputs, inputs], as are rows of one matrix that are stored apart.
/// Floats of several types become F32. If an expert is
/// missing or has another shape or type than the first, the type of the whole says so.
class ExpertWeights : public WeightSource {
public:
    ExpertWeights(std::shared_ptr<const WeightSource> checkpoint, std::span<const ExpertStack> stacks);

    const StoredTensor* find(std::string_view name) const override;
    std::vector<std::string> names() const override;
    TensorContents contents(std::string_view name) const override;
    std::unique_ptr<TensorRows> open_rows(std::string_view name) const override;
    void release(std::string_view name) const override;

private:
    struct Stack {
        StoredTensor tensor;
        std::vector<std::string> parts;
        bool is_widened = false;  ///< to F32
    };
    void add_stack(const ExpertStack& stack);

    std::shared_ptr<const WeightSource> checkpoint_;
    std::map<std::string, Stack, std::less<>> stacks_;
    std::set<std::string, std::less<>> hidden_;  ///< parts of them
};

}  // namespace tessera::import
