#pragma once

#include <string>
#include <vector>

#include "import/onnx/import_onnx.h"
#include "import/onnx/operand.h"

/// The inputs of a model, with what the user states about them.
namespace tessera::import::onnx {

/// The symbols with bounds that its inputs have.
std::vector<DimSymbol> symbols_of(const GraphText& graph, const ImportOptions& options);
/// Names for which the user states an extent, and that are none of the model's.
std::vector<std::string> unknown_dims(const GraphText& graph, const ImportOptions& options);
/// A point by the names of the graph. @throws Error naming a symbol that it lacks, or a value beyond bounds
Point point_of(const GraphText& graph, const ImportOptions& options, const Point& stated);
/// @throws Error for a type that is not supported, and a symbolic extent that the options do not know
std::vector<Dim> input_shape(const ValueInfo& input, const ImportOptions& options);
/// The contents that the user has stated: a number, or those of a NumPy file.
/// @throws Error where they are not those of the shape
Operand stated_input(const ValueInfo& input, const std::vector<Dim>& shape, const std::string& text);

}  // namespace tessera::import::onnx
