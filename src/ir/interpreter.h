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

/// Runs every iteration of the box. `operands` has one entry for each tensor of the definition, in order;
/// those of `out` results are ignored, that of an `update` holds its previous contents. Returns the results
/// in order, each rounded once to its type (`round_results`), or as computed.
/// @throws Error for an out-of-range write or read of an index operand, and for two iterations of a map that
/// write one element.
std::vector<TensorData> interpret(const Definition& definition, const BoundExtents& extents,
                                  const std::vector<TensorData>& operands, const std::string& where,
                                  bool round_results = true);

/// The deterministic contents of the zoo's tests (notation, "Contents and arithmetic"): operands by their
/// number, index operands by their fill. `test_contents_of` fills one tensor only.
TensorData test_contents_of(const DefinitionFile& file, const BoundExtents& extents, int tensor,
                            const std::string& where);
std::vector<TensorData> test_contents(const DefinitionFile& file, const BoundExtents& extents,
                                      const std::string& where);

}  // namespace tessera
