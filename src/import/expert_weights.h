#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "import/decoder_tensors.h"
#include "import/weights.h"

namespace tessera::import {

struct DecoderConfig;

/// Matrices of the experts of each layer, which may be stored one by one: names behind that of a layer.
struct ExpertStack {
    LayerTensor tensor;
    std::string before;  ///< "mlp.experts."
    std::string after;   ///< ".gate_proj.weight", behind the number
    std::string name;    ///< of all of them: "mlp.experts.*.gate_proj.weight"
};

/// Gives the tensors of experts that the checkpoint stores one by one the names of their stacks.
void name_stored_stacks(DecoderConfig& config, const WeightSource& checkpoint);

/// The tensors of a checkpoint, in which the matrices [outputs, inputs] of all experts of a layer, stored one
/// by one, are one matrix [experts * outputs, inputs]. Floats of several types become F32. If an expert is
/// missing or has another shape or type than the first, the type of the whole says so.
class ExpertWeights : public WeightSource {
public:
    /// `config` says the names, and how many experts there are.
    ExpertWeights(std::shared_ptr<const WeightSource> checkpoint, const DecoderConfig& config);

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
    void add_stack(const std::string& prefix, const ExpertStack& stack, int64_t experts);

    std::shared_ptr<const WeightSource> checkpoint_;
    std::map<std::string, Stack, std::less<>> stacks_;
    std::set<std::string, std::less<>> hidden_;  ///< parts of them
};

}  // namespace tessera::import
