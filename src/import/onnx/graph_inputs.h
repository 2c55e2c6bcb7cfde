#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "import/onnx/aliases.h"
#include "import/onnx/import_onnx.h"
#include "import/onnx/operand.h"

/// The inputs of a model, with what the user states about them.
namespace tessera::import::onnx {

/// The name in the graph of the symbol that an extent of an input is; empty for a number.
std::optional<std::string> symbol_name(const std::variant<int64_t, std::string>& extent,
                                       const std::string& input, size_t axis);
/// As the user states it, by the name in the graph or the model's own; null if they do not.
const Extent* stated_extent(const ImportOptions& options, const std::variant<int64_t, std::string>& extent,
                            const std::string& input, size_t axis);
/// The symbols with bounds that its inputs have; aliased ones have that of all rows.
std::vector<DimSymbol> symbols_of(const GraphText& graph, const ImportOptions& options,
                                  const Aliases& aliases);
/// Names for which the user states an extent, and that are none of the model's.
std::vector<std::string> unknown_dims(const GraphText& graph, const ImportOptions& options,
                                      const Aliases& aliases);
/// A point by the names of the graph. @throws Error naming a symbol that it lacks, or a value beyond bounds
Point point_of(const GraphText& graph, const ImportOptions& options, const Aliases& aliases,
               const Point& stated);
/// @throws Error for a type that is not supported, and a symbolic extent that the options do not know
std::vector<Dim> input_shape(const ValueInfo& input, const ImportOptions& options);
/// The contents that the user has stated: a number for all elements, a list "1,2" of them, or those of a
/// NumPy file.
/// @throws Error where they are not those of the shape
Operand stated_input(const ValueInfo& input, const std::vector<Dim>& shape, const std::string& text);

}  // namespace tessera::import::onnx
