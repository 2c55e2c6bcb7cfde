#pragma once

#include <functional>
#include <span>
#include <vector>

#include "distribution/choices.h"
#include "ir/graph.h"

namespace tessera::spmd {

/// The part of an operator that one device executes.
struct LocalOperator {
    DefinitionPtr definition;
    std::vector<TensorType> types;  ///< of its parts of the tensors, in the definition's order
    std::vector<std::vector<facts::Range>> ranges;  ///< of each axis of each tensor; symbolic ones are empty
};

/// @param types of the whole tensors, in the definition's order
LocalOperator local_operator(const Definition& definition, const std::vector<TensorType>& types,
                             const distribution::Choice& choice, const distribution::Placement& placement,
                             std::span<const int64_t> device);

/// Seconds of a device's part of an operator, the mean over the points of its graph; infinite where nothing
/// computes it. @param are_constant of each tensor
using LocalSeconds = std::function<double(const LocalOperator& local, const std::vector<bool>& are_constant)>;

/// The type of what a device holds of a value in this form.
TensorType local_type(const TensorType& type, const distribution::Form& form,
                      const distribution::Placement& placement, std::span<const int64_t> device);

/// The ranges of a value that a device holds; symbolic extents are whole, and counted as
/// `symbols` say: as 0 if there are none.
std::vector<facts::Range> held_ranges(const TensorType& type, const distribution::Form& form,
                                      const distribution::Placement& placement,
                                      std::span<const int64_t> device,
                                      const std::map<std::string, int64_t>& symbols);

}  // namespace tessera::spmd
