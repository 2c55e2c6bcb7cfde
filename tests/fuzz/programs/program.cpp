#include "fuzz/programs/program.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "support/error.h"

namespace tessera::fuzz {
namespace {

constexpr double kFirstNormal = std::numeric_limits<float>::min();

int64_t product(const std::vector<int64_t>& shape, size_t first, size_t end) {
    int64_t count = 1;
    for (size_t axis = first; axis < end; ++axis) count *= shape[axis];
    return count;
}

/// Parts behind each other along an axis.
TensorData joined(const Value& value, const std::vector<const TensorData*>& parts) {
    const size_t axis = value.concatenation->axis;
    TensorData all{evaluate(value.type.shape, {}), {}};
    const int64_t rows = product(all.shape, 0, axis);
    for (int64_t row = 0; row < rows; ++row) {
        for (const TensorData* part : parts) {
            const int64_t each = product(part->shape, axis, part->shape.size());
            const auto begin = part->values.begin() + row * each;
            all.values.insert(all.values.end(), begin, begin + each);
        }
    }
    return all;
}

void count_contents(const TensorData& data, Coverage& coverage) {
    bool has_nan = false, has_infinity = false, has_negative_zero = false, has_denormal = false;
    for (const double v : data.values) {
        has_nan |= std::isnan(v);
        has_infinity |= std::isinf(v);
        has_negative_zero |= v == 0 && std::signbit(v);
        has_denormal |= v != 0 && std::abs(v) < kFirstNormal;
    }
    coverage["contents nan"] += has_nan;
    coverage["contents infinity"] += has_infinity;
    coverage["contents -0"] += has_negative_zero;
    coverage["contents denormal"] += has_denormal;
}

}  // namespace

TensorData constant_of(const Program& program, const Value& value, int64_t repetition) {
    std::vector<const TensorData*> parts;
    for (size_t part = 0; part < value.parts(); ++part)
        parts.push_back(&program.constants.at(value.source(repetition, part)));
    return value.concatenation ? joined(value, parts) : *parts.front();
}

GraphCall Program::call() const {
    GraphCall call;
    call.symbols = symbols;
    call.inputs = inputs;
    call.constant = [this](const Value& value, int64_t repetition) {
        return constant_of(*this, value, repetition);
    };
    for (const auto& [name, data] : states) call.states[name] = {data};
    return call;
}

Coverage coverage_of(const Program& program) {
    Coverage coverage;
    for (const std::string& kind : program.kinds) ++coverage["node " + kind];
    for (const Value& value : program.graph.values) {
        ++coverage[fmt::format("value {}", name(value.kind))];
        ++coverage[fmt::format("type {}", name(value.type.element))];
        for (const Dim& dim : value.type.shape) coverage["extent symbolic"] += !dim.is_constant();
    }
    for (const Node& node : program.graph.blocks.front().nodes) {
        const Definition& d = *node.definition();
        ++coverage[fmt::format("monoid {}", d.monoid == Monoid::kNone ? "none" : name(d.monoid))];
        coverage["predicate"] += d.where != nullptr;
        coverage["post-expression"] += d.post != nullptr;
    }
    for (const auto* tensors : {&program.inputs, &program.constants, &program.states})
        for (const auto& [name, data] : *tensors) count_contents(data, coverage);
    coverage["several outputs"] += program.graph.outputs.size() > 1;
    return coverage;
}

}  // namespace tessera::fuzz
