#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "import/onnx/graph_builder.h"
#include "import/onnx/onnx_model.h"

namespace tessera::import::onnx {

/// The extent of a symbolic dimension, as the user states it.
struct Extent {
    int64_t low = 1;
    int64_t high = 1;
    int64_t step = 1;  ///< every value is a multiple; the symbol of the graph counts steps
};

struct ImportOptions {
    std::map<std::string, Extent> dims;
    /// Inputs that are known when the model is compiled: a number, a list "1,2", or the path of
    /// a NumPy file.
    std::map<std::string, std::string> constants;
    /// Outputs by the inputs with which they share a state (import/onnx/aliases.h).
    std::map<std::string, std::string> aliases;
    /// Values of all symbols at which costs are compared, by either of their names.
    std::vector<Point> points;
};

/// A value of the graph as the user of an imported model names it, and the form of its array.
struct Port {
    std::string name;
    std::string value;  ///< in the graph; empty for an array without elements, which the graph does not have
    bool is_scalar = false;
    ElementType element = ElementType::kF32;
    std::vector<Dim> shape;
};

/// A node that cannot be imported.
struct Unsupported {
    std::string node;   ///< its name or number
    std::string op;     ///< with its domain
    int64_t opset = 0;  ///< the version of its operator set
    std::string reason;
};

/// "node `conv_1`, Conv of opset 11: ..."
std::string print(const Unsupported& unsupported);

struct ImportedModel {
    ModelText text;
    Graph graph;
    std::shared_ptr<OnnxWeights> weights;
    std::vector<Port> inputs, outputs;
    std::vector<Port> states;                      ///< of aliases, by the names of the inputs
    std::vector<Unsupported> unsupported;          ///< if there are some, the graph is not whole
    std::map<std::string, std::string> operators;  ///< ONNX operator of each node of the graph
};

/// @throws Error for a file that cannot be read. What is not supported is in the result.
ImportedModel import_onnx(const std::filesystem::path& path, const ImportOptions& options);
ImportedModel import_onnx(ModelText text, const ImportOptions& options);
/// The same. @throws Error that names all that is not supported
ImportedModel import_supported_onnx(const std::filesystem::path& path, const ImportOptions& options);

}  // namespace tessera::import::onnx
