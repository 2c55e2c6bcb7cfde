#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "chip/partition/held_numbers.h"
#include "chip/partition/program_contents.h"
#include "ir/facts/bound_definition.h"
#include "ir/interpreter.h"

/// A core's arithmetic for an operator: partial results of some iterations, which it folds together.
namespace tessera::partition {

/// Partial results for each result of the definition, in order, not rounded and without the post-expression.
using PartialResults = std::vector<HeldNumbers>;

/// The contents of an operator's tensors on a core.
struct TileOperands {
    std::vector<TensorData> numbers;  ///< of each tensor, whole; what is not held is 0
    HeldElements held;
};

class TileArithmetic {
public:
    /// @pre `bound` outlives this
    explicit TileArithmetic(const facts::BoundDefinition& bound);

    /// Runs the iterations of the box. @throws Error naming `where` and an element that is not held
    PartialResults execute(const facts::IterationBox& box, const TileOperands& operands,
                           const std::string& where) const;
    void fold(PartialResults& into, const PartialResults& next) const;
    /// Elements of a result that are complete, rounded to its type.
    /// @param before the numbers that they are folded into, in their order; empty: none
    /// @pre iterations of the box write them, and they are among the partial ones
    std::vector<double> finish(const Piece& piece, const facts::IterationBox& box,
                               const PartialResults& complete, const std::vector<double>& before,
                               const TileOperands& operands, const std::string& where) const;
    /// An element that no iteration reaches, rounded.
    double untouched(size_t tensor) const;

private:
    void fold_softmax(PartialResults& into, const PartialResults& next) const;

    const facts::BoundDefinition& bound_;
    std::vector<int> results_;
    /// For a softmax: the element of the maxima for each element of the sums and of the weighted sums.
    std::array<std::map<int64_t, int64_t>, 2> maximum_of_;
};

}  // namespace tessera::partition
