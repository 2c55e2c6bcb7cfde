#include "import/decoder_step.h"

#include <fmt/core.h>

#include "import/quantised/operand_tensors.h"
#include "ir/ops/layer_norm.h"
#include "ir/ops/rms_norm.h"

namespace tessera::import {
namespace {

std::vector<Dim> as_dims(const std::vector<int64_t>& shape) {
    return {shape.begin(), shape.end()};
}

}  // namespace

ValueId DecoderStep::value(Value value) {
    graph.values.push_back(std::move(value));
    return {static_cast<int>(graph.values.size()) - 1};
}

ValueId DecoderStep::constant(std::string name, ElementType type, const std::vector<int64_t>& shape,
                              std::vector<std::string> sources) {
    return value({.name = std::move(name),
                  .kind = ValueKind::kConstant,
                  .type = {.element = type, .shape = as_dims(shape)},
                  .sources = std::move(sources)});
}

std::vector<ValueId> DecoderStep::weight(const std::string& name, ops::WeightFormat format,
                                         const std::vector<int64_t>& shape,
                                         const std::vector<std::string>& sources) {
    std::vector<ValueId> operands;
    for (const ops::WeightOperand& operand : ops::info(format).operands) {
        std::vector<int64_t> extents = shape;
        extents.back() /= operand.block;
        std::vector<std::string> own;
        for (const std::string& source : sources) own.push_back(operand_source(source, operand));
        operands.push_back(constant(operand.name.empty() ? name : fmt::format("{}_{}", name, operand.name),
                                    operand.type, extents, std::move(own)));
    }
    return operands;
}

std::vector<ValueId> DecoderStep::weight(const std::string& name, ops::WeightFormat format,
                                         OuterTensor tensor) {
    return weight(name, format, shape_of(tensor, spec.size), {source_name(tensor, spec.names)});
}

Rounding DecoderStep::rounding() const {
    return spec.policy == Policy::kExact ? Rounding::kExact : Rounding::kWeights;
}

TensorType DecoderStep::normed_type(ValueId x, ElementType element) const {
    TensorType type = graph[x].type;
    type.element = element;
    type.rounding = element == ElementType::kF32 ? Rounding::kExact : rounding();
    return type;
}

Composite DecoderStep::norm() const {
    if (spec.form.norm == NormForm::kLayer) return ops::layer_norm(spec.epsilon);
    return ops::rms_norm(spec.epsilon, spec.form.norm == NormForm::kRmsFromOne ? 1 : 0);
}

std::vector<ValueId> joined(std::vector<ValueId> operands, const std::vector<ValueId>& weight) {
    operands.insert(operands.end(), weight.begin(), weight.end());
    return operands;
}

}  // namespace tessera::import
