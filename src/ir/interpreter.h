#pragma once

#include <string>
#include <vector>

#include "ir/definition.h"

/// The reference interpreter: runs the loops over the body, slowly and obviously, in float64. The oracle of
/// every test.
namespace tessera {

/// Contents of a tensor in float64 (integers are exact), row-major.
struct TensorData {
    std::vector<int64_t> shape;
    std::vector<double> values;
};

/// For each tensor, which of its elements are held, row-major; an empty list: all of them.
using HeldElements = std::vector<std::vector<bool>>;

/// The treatment of a score of -inf in `softmax_sum`: a number, as in the notation of operators, so that
/// elements without another score are NaN; or nothing, as in graphs (docs/ir.md, "Numbers").
enum class InfiniteScores { kNumbers, kNothing };

/// Runs every iteration of the box. `operands` has one entry for each tensor of the definition, in order;
/// those of `out` results are ignored, that of an `update` holds its previous contents. Returns the results
/// in order, each rounded once to its type (`round_results`), or as computed.
/// @param held which elements of the operands may be read; null: all
/// @throws Error for an out-of-range write or read of an index operand, for two iterations of a map that
/// write one element, and for a read of an element that is not held.
std::vector<TensorData> interpret(const Definition& definition, const BoundExtents& extents,
                                  const std::vector<TensorData>& operands, const std::string& where,
                                  bool round_results = true, const HeldElements* held = nullptr,
                                  InfiniteScores infinite_scores = InfiniteScores::kNumbers);

/// The deterministic contents of the zoo's tests (notation, "Contents and arithmetic"): operands by their
/// number, index operands by their fill. `test_contents_of` fills one tensor only.
TensorData test_contents_of(const DefinitionFile& file, const BoundExtents& extents, int tensor,
                            const std::string& where);
std::vector<TensorData> test_contents(const DefinitionFile& file, const BoundExtents& extents,
                                      const std::string& where);

}  // namespace tessera
