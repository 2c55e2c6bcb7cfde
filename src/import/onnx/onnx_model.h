#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "import/onnx/tensor_type.h"
#include "import/weights.h"
#include "support/mapped_file.h"

/// An ONNX file as it is written, before anything of it is understood. Source: onnx.proto of onnx 1.22.
namespace tessera::import::onnx {

/// A TensorProto: elements as they lie in raw_data, little-endian, those of less than a byte packed from the
/// lowest bits on.
struct Tensor {
    std::string name;
    DataType type = DataType::kUndefined;
    std::vector<int64_t> shape;
    TensorContents contents;  ///< as many bytes as the shape asks for; none for strings
};

/// TypeProto, of tensors alone.
struct ValueInfo {
    std::string name;
    std::string kind = "tensor";  ///< or "sequence", "optional", "map", "sparse tensor", "opaque"
    DataType type = DataType::kUndefined;
    /// Each a number or the name of a symbol, which is empty where the extent is unknown.
    std::optional<std::vector<std::variant<int64_t, std::string>>> shape;
};

struct GraphText;

struct Attribute {
    enum class Kind : int32_t {
        kUndefined = 0,
        kFloat = 1,
        kInt = 2,
        kString = 3,
        kTensor = 4,
        kGraph = 5,
        kFloats = 6,
        kInts = 7,
        kStrings = 8,
        kTensors = 9,
        kGraphs = 10,
    };
    std::string name;
    std::string reference;  ///< in a function: the attribute of the function whose value this one has
    Kind kind = Kind::kUndefined;
    float number = 0;
    int64_t integer = 0;
    std::string text;
    std::vector<float> numbers;
    std::vector<int64_t> integers;
    std::vector<std::string> texts;
    std::shared_ptr<const Tensor> tensor;
    std::shared_ptr<const GraphText> graph;
};

struct NodeText {
    std::string name;
    std::string op_type;
    std::string domain;  ///< empty for ONNX's own
    std::string overload;
    std::vector<std::string> inputs;  ///< empty where an optional one is left out
    std::vector<std::string> outputs;
    std::map<std::string, Attribute> attributes;
};

struct GraphText {
    std::string name;
    std::string description;
    std::vector<NodeText> nodes;
    std::map<std::string, Tensor> initializers;
    std::vector<std::string> sparse_initializers;  ///< names; they are not read
    std::vector<ValueInfo> inputs;
    std::vector<ValueInfo> outputs;
};

struct FunctionText {
    std::string domain, name, overload;
    std::vector<std::string> inputs, outputs;
    std::vector<std::string> attributes;         ///< without a default
    std::map<std::string, Attribute> defaulted;  ///< those with one
    std::map<std::string, int64_t> opsets;
    std::vector<NodeText> nodes;
};

struct ModelText {
    std::string where;  ///< the file, for errors
    int64_t ir_version = 0;
    std::string producer, domain, description;
    std::optional<int64_t> version;               ///< of the model, as its author counts
    std::map<std::string, std::string> metadata;  ///< what its author has added
    std::map<std::string, int64_t> opsets;        ///< by domain
    GraphText graph;
    std::vector<FunctionText> functions;
    std::vector<std::shared_ptr<const void>> files;       ///< keep the bytes of the tensors
    std::vector<std::filesystem::path> paths_of_tensors;  ///< the files beside the model
};

/// Reads a model and the files beside it that hold tensors. The files may be hostile.
/// @throws Error naming the file, and what of it is damaged, too large or outside of the model's folder.
ModelText read_model(const std::filesystem::path& path);
/// The same of bytes that the caller keeps; `folder` has the files of tensors, none may be read if it is
/// empty.
ModelText parse_model(std::string_view bytes, const std::string& where,
                      const std::filesystem::path& folder = {});

}  // namespace tessera::import::onnx
