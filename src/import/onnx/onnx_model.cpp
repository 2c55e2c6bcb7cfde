#include "import/onnx/onnx_model.h"

#include <fmt/format.h>

#include "import/onnx/tensor_reader.h"
#include "support/error.h"
#include "support/protobuf_reader.h"

namespace tessera::import::onnx {
namespace {

constexpr int kDeepestGraph = 16;
constexpr size_t kMostNodes = 1'000'000;

class ModelReader {
public:
    ModelReader(const std::string& where, const std::filesystem::path& folder) : tensors_(where, folder) {
        model_.where = where;
    }

    ModelText read(std::string_view bytes) {
        for (ProtobufReader message(bytes, model_.where); message.next();) {
            switch (message.field()) {
                case 1:
                    model_.ir_version = message.int64("ir_version");
                    break;
                case 2:
                    model_.producer = message.bytes("producer_name");
                    break;
                case 4:
                    model_.domain = message.bytes("domain");
                    break;
                case 5:
                    model_.version = message.int64("model_version");
                    break;
                case 6:
                    model_.description = message.bytes("doc_string");
                    break;
                case 7:
                    model_.graph = graph(message.message("graph"));
                    has_graph_ = true;
                    break;
                case 8:
                    opset(message.message("opset_import"), model_.opsets);
                    break;
                case 14:
                    metadata(message.message("metadata_props"));
                    break;
                case 25:
                    model_.functions.push_back(function(message.message("functions")));
                    break;
                default:
                    break;
            }
        }
        check();
        model_.files = tensors_.files();
        model_.paths_of_tensors = tensors_.paths();
        return std::move(model_);
    }

private:
    void check() const {
        if (!has_graph_) throw Error(model_.where, "graph", "is missing: the file is empty or no ONNX model");
        if (model_.ir_version < 3)
            throw Error(model_.where, "ir_version",
                        fmt::format("is {}, expected 3 or more", model_.ir_version),
                        "write the model again with a newer version of its exporter");
    }

    static void opset(ProtobufReader message, std::map<std::string, int64_t>& opsets) {
        std::string domain;
        int64_t version = 0;
        while (message.next()) {
            if (message.field() == 1) domain = message.bytes("domain");
            if (message.field() == 2) version = message.int64("version");
        }
        opsets[domain == "ai.onnx" ? "" : domain] = version;
    }

    void metadata(ProtobufReader message) {
        std::string key, value;
        while (message.next()) {
            if (message.field() == 1) key = message.bytes("key");
            if (message.field() == 2) value = message.bytes("value");
        }
        model_.metadata[key] = value;
    }

    GraphText graph(ProtobufReader message) {
        if (++depth_ > kDeepestGraph)
            message.fail("graph", fmt::format("lies in more than {} others", kDeepestGraph));
        GraphText graph;
        while (message.next()) {
            switch (message.field()) {
                case 1:
                    graph.nodes.push_back(node(message.message("node")));
                    break;
                case 2:
                    graph.name = message.bytes("name");
                    break;
                case 5: {
                    Tensor tensor = tensors_.read(message.message("initializer"));
                    std::string tensor_name = tensor.name;
                    if (!graph.initializers.emplace(tensor_name, std::move(tensor)).second)
                        message.fail("initializer", fmt::format("{} is there twice", tensor_name));
                    break;
                }
                case 10:
                    graph.description = message.bytes("doc_string");
                    break;
                case 11:
                    graph.inputs.push_back(value(message.message("input")));
                    break;
                case 12:
                    graph.outputs.push_back(value(message.message("output")));
                    break;
                case 15:
                    graph.sparse_initializers.push_back(sparse_name(message.message("sparse_initializer")));
                    break;
                default:
                    break;
            }
        }
        --depth_;
        return graph;
    }

    static std::string sparse_name(ProtobufReader message) {
        std::string name;
        while (message.next()) {
            if (message.field() != 1) continue;
            for (ProtobufReader values = message.message("values"); values.next();)
                if (values.field() == 8) name = values.bytes("name");
        }
        return name;
    }

    NodeText node(ProtobufReader message) {
        if (++nodes_ > kMostNodes) message.fail("node", fmt::format("is one of more than {}", kMostNodes));
        NodeText node;
        while (message.next()) {
            switch (message.field()) {
                case 1:
                    node.inputs.emplace_back(message.bytes("input"));
                    break;
                case 2:
                    node.outputs.emplace_back(message.bytes("output"));
                    break;
                case 3:
                    node.name = message.bytes("name");
                    break;
                case 4:
                    node.op_type = message.bytes("op_type");
                    break;
                case 5: {
                    Attribute read = attribute(message.message("attribute"));
                    std::string attribute_name = read.name;
                    node.attributes[attribute_name] = std::move(read);
                    break;
                }
                case 7:
                    node.domain = message.bytes("domain");
                    break;
                case 8:
                    node.overload = message.bytes("overload");
                    break;
                default:
                    break;
            }
        }
        if (node.domain == "ai.onnx") node.domain.clear();
        return node;
    }

    Attribute attribute(ProtobufReader message) {
        Attribute a;
        while (message.next()) {
            switch (message.field()) {
                case 1:
                    a.name = message.bytes("name");
                    break;
                case 2:
                    a.number = message.float32("f");
                    break;
                case 3:
                    a.integer = message.int64("i");
                    break;
                case 4:
                    a.text = message.bytes("s");
                    break;
                case 5:
                    a.tensor = std::make_shared<const Tensor>(tensors_.read(message.message("t")));
                    break;
                case 6:
                    a.graph = std::make_shared<const GraphText>(graph(message.message("g")));
                    break;
                case 7:
                    message.fixed<float>("floats", [&](float number) { a.numbers.push_back(number); });
                    break;
                case 8:
                    message.numbers(
                        "ints", [&](uint64_t number) { a.integers.push_back(static_cast<int64_t>(number)); });
                    break;
                case 9:
                    a.texts.emplace_back(message.bytes("strings"));
                    break;
                case 20:
                    a.kind = static_cast<Attribute::Kind>(message.int32("type"));
                    break;
                case 21:
                    a.reference = message.bytes("ref_attr_name");
                    break;
                default:
                    break;
            }
        }
        return a;
    }

    static ValueInfo value(ProtobufReader message) {
        ValueInfo value;
        while (message.next()) {
            if (message.field() == 1) value.name = message.bytes("name");
            if (message.field() == 2) type(message.message("type"), value);
        }
        return value;
    }

    static void type(ProtobufReader message, ValueInfo& value) {
        while (message.next()) {
            switch (message.field()) {
                case 1:
                    tensor_type(message.message("tensor_type"), value);
                    break;
                case 4:
                    value.kind = "sequence";
                    break;
                case 5:
                    value.kind = "map";
                    break;
                case 7:
                    value.kind = "opaque";
                    break;
                case 8:
                    value.kind = "sparse tensor";
                    break;
                case 9:
                    value.kind = "optional";
                    break;
                default:
                    break;
            }
        }
    }

    static void tensor_type(ProtobufReader message, ValueInfo& value) {
        while (message.next()) {
            if (message.field() == 1) value.type = static_cast<DataType>(message.int32("elem_type"));
            if (message.field() != 2) continue;
            value.shape.emplace();
            for (ProtobufReader shape = message.message("shape"); shape.next();)
                if (shape.field() == 1) value.shape->push_back(extent(shape.message("dim")));
        }
    }

    static std::variant<int64_t, std::string> extent(ProtobufReader message) {
        std::variant<int64_t, std::string> extent = std::string();
        while (message.next()) {
            if (message.field() == 1) extent = message.int64("dim_value");
            if (message.field() == 2) extent = std::string(message.bytes("dim_param"));
        }
        return extent;
    }

    FunctionText function(ProtobufReader message) {
        FunctionText f;
        while (message.next()) {
            switch (message.field()) {
                case 1:
                    f.name = message.bytes("name");
                    break;
                case 4:
                    f.inputs.emplace_back(message.bytes("input"));
                    break;
                case 5:
                    f.outputs.emplace_back(message.bytes("output"));
                    break;
                case 6:
                    f.attributes.emplace_back(message.bytes("attribute"));
                    break;
                case 7:
                    f.nodes.push_back(node(message.message("node")));
                    break;
                case 9:
                    opset(message.message("opset_import"), f.opsets);
                    break;
                case 10:
                    f.domain = message.bytes("domain");
                    break;
                case 11: {
                    Attribute read = attribute(message.message("attribute_proto"));
                    std::string attribute_name = read.name;
                    f.defaulted[attribute_name] = std::move(read);
                    break;
                }
                case 13:
                    f.overload = message.bytes("overload");
                    break;
                default:
                    break;
            }
        }
        if (f.domain == "ai.onnx") f.domain.clear();
        return f;
    }

    TensorReader tensors_;
    ModelText model_;
    bool has_graph_ = false;
    int depth_ = 0;
    size_t nodes_ = 0;
};

}  // namespace

ModelText parse_model(std::string_view bytes, const std::string& where, const std::filesystem::path& folder) {
    return ModelReader(where, folder).read(bytes);
}

ModelText read_model(const std::filesystem::path& path) {
    const auto file = std::make_shared<MappedFile>(MappedFile::open(path));
    const std::filesystem::path folder = path.parent_path();
    ModelText model = parse_model(file->text(), path.string(), folder.empty() ? "." : folder);
    model.files.push_back(file);
    return model;
}

}  // namespace tessera::import::onnx
