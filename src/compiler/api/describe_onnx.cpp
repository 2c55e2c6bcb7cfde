#include "compiler/import_options.h"
#include "import/onnx/graph_inputs.h"
#include "import/onnx/onnx_model.h"
#include "tessera/program.h"

namespace tessera {
namespace {

namespace onnx = import::onnx;

OnnxDescription::Port port_of(const onnx::ValueInfo& value) {
    OnnxDescription::Port port{.name = value.name,
                               .type = value.kind == "tensor" ? onnx::name(value.type) : value.kind,
                               .has_shape = value.shape.has_value(),
                               .shape = {},
                               .symbols = {}};
    if (value.shape) port.shape = *value.shape;
    for (size_t axis = 0; axis < port.shape.size(); ++axis)
        port.symbols.push_back(onnx::symbol_name(port.shape[axis], value.name, axis).value_or(""));
    return port;
}

}  // namespace

OnnxDescription describe_onnx(const std::filesystem::path& model) {
    const onnx::ModelText text = onnx::read_model(model);
    OnnxDescription result{.ir_version = text.ir_version,
                           .producer = text.producer,
                           .domain = text.domain,
                           .description = text.description,
                           .graph_name = text.graph.name,
                           .graph_description = text.graph.description,
                           .version = text.version,
                           .metadata = text.metadata,
                           .opsets = text.opsets,
                           .inputs = {},
                           .outputs = {}};
    for (const onnx::ValueInfo& input : text.graph.inputs)
        if (!text.graph.initializers.contains(input.name)) result.inputs.push_back(port_of(input));
    for (const onnx::ValueInfo& output : text.graph.outputs) result.outputs.push_back(port_of(output));
    return result;
}

std::vector<std::string> unsupported_in_onnx(const std::filesystem::path& model,
                                             const OnnxSettings& settings) {
    std::vector<std::string> lines;
    for (const onnx::Unsupported& each :
         onnx::import_onnx(model, compiler::import_options(settings)).unsupported)
        lines.push_back(onnx::print(each));
    return lines;
}

}  // namespace tessera
