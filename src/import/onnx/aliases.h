#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "import/onnx/onnx_model.h"

/// Outputs that hold what an input held with rows appended, such as the keys of a decoder: they share one
/// state, to which the step writes the new rows alone.
namespace tessera::import::onnx {

struct ImportOptions;

struct Alias {
    std::string input, output;
    size_t axis = 0;    ///< along which the rows are
    std::string held;   ///< the symbol of the rows that the input has
    std::string total;  ///< that of the rows of the output, which is the graph's
    int64_t rows = 1;   ///< appended by a step: total - held
    int64_t most = 1;   ///< for which there is room
};
using Aliases = std::map<std::string, Alias>;  ///< by the input

/// @throws Error for a pair that the model does not have, or whose types or extents do not fit
Alias alias_of(const GraphText& graph, const ImportOptions& options, const std::string& output,
               const std::string& input);

}  // namespace tessera::import::onnx
