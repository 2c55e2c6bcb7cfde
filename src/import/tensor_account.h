#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "import/findings.h"
#include "import/model_config.h"
#include "import/place_tensors.h"
#include "import/weights.h"
#include "ir/ops/weight_format.h"

namespace tessera::import {

/// Accounts for every tensor of a checkpoint: it was asked for here, with its shape and type, or it is known
/// to be harmless, or it is refused or warned about.
class TensorAccount {
public:
    /// All must live longer.
    TensorAccount(const WeightSource& weights, const ModelConfig& config, const PlacedTensors& placed,
                  Findings& findings)
        : weights_(weights), config_(config), placed_(placed), findings_(findings) {}

    bool contains(const std::string& name) const { return weights_.find(name) != nullptr; }

    /// F32 where the tensor cannot be used: the findings keep it from being compiled.
    ops::WeightFormat resolve(const std::string& name, const std::vector<int64_t>& shape);
    /// Resolves a tensor that the import itself reads.
    void resolve_f32(const std::string& name, const std::vector<int64_t>& shape);
    /// True if two existing tensors hold the same bytes. The second is then accounted for.
    bool is_copy(const std::string& original, const std::string& copy);

    /// Adds to the findings the tensors that are missing, of a wrong shape or type, or left over.
    void close();

private:
    ops::WeightFormat resolve(const std::string& name, const std::vector<int64_t>& shape,
                              const std::string& expected, bool (*is_accepted)(ops::WeightFormat));
    void account_for_rest();
    bool is_recomputed(const std::string& name) const;
    /// The rest of a name behind the number of an existing layer; empty for other names.
    std::string_view behind_layer(std::string_view name) const;
    /// True if a tensor of a folder would change the results if it were used: biases and norms of existing
    /// layers, and every tensor that the text has for other settings.
    bool would_change_results(const std::string& name) const;

    const WeightSource& weights_;
    const ModelConfig& config_;
    const PlacedTensors& placed_;
    Findings& findings_;
    std::set<std::string, std::less<>> used_;
    std::map<std::string, int64_t> types_;  ///< by their fault
    std::vector<std::string> missing_;
    std::vector<std::string> wrong_shapes_;
};

}  // namespace tessera::import
