#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "import/constant_data.h"
#include "import/onnx/import_onnx.h"
#include "import/onnx/onnx_builder.h"
#include "ir/graph_interpreter.h"

namespace tessera::test {

inline import::onnx::ImportedModel imported(const OnnxBuilder& builder,
                                            const import::onnx::ImportOptions& options = {}) {
    const auto bytes = std::make_shared<const std::string>(builder.bytes());
    import::onnx::ModelText text = import::onnx::parse_model(*bytes, "m.onnx");
    text.files.push_back(bytes);
    return import_onnx(std::move(text), options);
}

/// The outputs of the imported graph by the interpreter, in the order of the model.
inline std::vector<TensorData> run(const import::onnx::ImportedModel& model,
                                   const std::map<std::string, TensorData>& inputs,
                                   const std::map<std::string, int64_t>& symbols = {}) {
    for (const import::onnx::Unsupported& each : model.unsupported) ADD_FAILURE() << print(each);
    verify(model.graph, "m.onnx");
    GraphCall call;
    call.symbols = symbols;
    for (const import::onnx::Port& port : model.inputs) call.inputs[port.value] = inputs.at(port.name);
    call.constant = [&](const Value& value, int64_t repetition) {
        return import::constant_data(*model.weights, value, repetition);
    };
    return interpret_graph(model.graph, call).outputs;
}

inline std::vector<double> counted(size_t count, double from = -3, double step = 0.5) {
    std::vector<double> numbers;
    for (size_t i = 0; i < count; ++i) numbers.push_back(from + step * static_cast<double>(i));
    return numbers;
}

}  // namespace tessera::test
