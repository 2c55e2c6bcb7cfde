#include "import/model_step.h"

#include <fmt/core.h>

#include "import/quantised/operand_tensors.h"

namespace tessera::import {

ValueId ModelStep::seat() {
    if (!seats) seats = add_seats(graph);
    return *seats;
}

ValueId ModelStep::value(tessera::Value value) {
    graph.values.push_back(std::move(value));
    return {static_cast<int>(graph.values.size()) - 1};
}

ValueId ModelStep::constant(std::string name, ElementType type, const std::vector<int64_t>& shape,
                            std::vector<std::string> sources) {
    return value({.name = std::move(name),
                  .kind = ValueKind::kConstant,
                  .type = {.element = type, .shape = {shape.begin(), shape.end()}},
                  .sources = std::move(sources)});
}

std::vector<ValueId> ModelStep::weight(const std::string& name, ops::WeightFormat format,
                                       const std::vector<int64_t>& shape,
                                       const std::vector<std::string>& sources) {
    std::vector<ValueId> operands;
    for (const ops::WeightOperand& operand : ops::info(format).operands) {
        std::vector<int64_t> extents = shape;
        if (!extents.empty()) extents.back() /= operand.block;
        std::vector<std::string> own;
        for (const std::string& source : sources) own.push_back(operand_source(source, operand));
        operands.push_back(constant(operand.name.empty() ? name : fmt::format("{}_{}", name, operand.name),
                                    operand.type, extents, std::move(own)));
    }
    return operands;
}

Rounding ModelStep::rounding() const {
    return spec.policy == Policy::kExact ? Rounding::kExact : Rounding::kWeights;
}

}  // namespace tessera::import
