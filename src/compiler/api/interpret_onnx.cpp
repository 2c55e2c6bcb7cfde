#include <utility>

#include "compiler/import_options.h"
#include "import/constant_data.h"
#include "import/npy/npy_file.h"
#include "ir/graph_interpreter.h"
#include "ir/stored_number.h"
#include "support/error.h"
#include "tessera/program.h"

namespace tessera {
namespace {

namespace onnx = import::onnx;

TensorData data_of(const onnx::Port& port, const ArrayView& given, const std::string& where,
                   std::map<std::string, int64_t>& symbols) {
    const import::NpyArray array{where, given.type, given.shape, given.bytes};
    array.expect_type(port.element, port.name);
    TensorData data{.shape = port.is_scalar ? std::vector<int64_t>{1} : given.shape, .values = {}};
    if (data.shape.size() != port.shape.size() + (port.is_scalar ? 1 : 0))
        throw Error(where, port.name, "has another number of axes");
    for (size_t axis = 0; axis < port.shape.size(); ++axis) {
        const Dim& dim = port.shape[axis];
        if (dim.symbol) symbols.emplace(*dim.symbol, given.shape[axis] / dim.factor);
    }
    const std::vector<std::byte> elements = array.elements(port.element);
    const size_t count = elements.size() * 8 / static_cast<size_t>(bits(port.element));
    for (size_t i = 0; i < count; ++i) data.values.push_back(stored_number(elements, port.element, i));
    return data;
}

Array array_of(const onnx::Port& port, const TensorData& data) {
    std::vector<std::byte> elements(data.values.size() * static_cast<size_t>(bits(port.element)) / 8);
    for (size_t i = 0; i < data.values.size(); ++i)
        set_stored_number(elements, port.element, i, data.values[i]);
    return {std::string(import::npy_type(port.element)), port.is_scalar ? std::vector<int64_t>() : data.shape,
            import::npy_bytes(port.element, elements)};
}

}  // namespace

std::map<std::string, Array> interpret_onnx(const std::filesystem::path& path, const OnnxSettings& settings,
                                            const std::map<std::string, ArrayView>& inputs) {
    const onnx::ImportedModel model = onnx::import_supported_onnx(path, compiler::import_options(settings));
    const std::string& where = model.text.where;
    verify(model.graph, where);
    GraphCall call;
    for (const onnx::Port& port : model.inputs) {
        const auto given = inputs.find(port.name);
        if (given == inputs.end()) throw Error(where, port.name, "is missing");
        TensorData data = data_of(port, given->second, where, call.symbols);
        if (!port.value.empty()) call.inputs[port.value] = std::move(data);
    }
    call.constant = [&](const Value& value, int64_t repetition) {
        return import::constant_data(*model.weights, value, repetition);
    };
    call.states = zero_states(model.graph, call.symbols);
    const GraphResult result = interpret_graph(model.graph, call);
    std::map<std::string, Array> arrays;
    for (const onnx::Port& port : model.outputs)
        if (port.value.empty()) arrays[port.name] = array_of(port, {evaluate(port.shape, call.symbols), {}});
    for (size_t i = 0; i < result.outputs.size(); ++i)
        for (const onnx::Port& port : model.outputs)
            if (port.value == model.graph[model.graph.outputs[i]].name)
                arrays[port.name] = array_of(port, result.outputs[i]);
    return arrays;
}

}  // namespace tessera
