#include "layouts/form_traffic.h"

#include <algorithm>

namespace tessera::layouts {
namespace {

/// Elements of a tensor that the operator touches at most, as a share of those that it has.
double touched_share(const Definition& definition, int tensor, const std::vector<int64_t>& extents,
                     double elements) {
    double most = 0;
    for (const auto& access : accesses(definition, tensor)) {
        double steps = 1;
        for (const int x : iterators_in(access))
            steps *= static_cast<double>(extents[static_cast<size_t>(x)]);
        most += steps;
    }
    return elements > 0 ? std::min(1.0, most / elements) : 0;
}

size_t level_of(const Machine& machine, double bytes) {
    size_t level = 0;
    while (level + 1 < machine.memory.size() &&
           static_cast<double>(machine.memory[level].capacity_bytes) < bytes)
        ++level;
    return level;
}

}  // namespace

double waiting_seconds(const Definition& definition, std::span<const Operand> operands,
                       const TensorType& result, const std::map<std::string, int64_t>& symbols,
                       const Machine& machine, const std::function<double(size_t)>& seconds_per_byte) {
    const std::vector<int64_t> dims = dims_of(definition, symbols);
    std::vector<int64_t> extents;
    for (const Iterator& iterator : definition.iterators)
        extents.push_back(evaluate_constant(iterator.extent, dims));
    double seconds = 0;
    const auto add = [&](int tensor, const TensorType& type, bool is_constant) {
        const std::vector<int64_t> shape = evaluate(type.shape, symbols);
        double elements = 1;
        for (const int64_t extent : shape) elements *= static_cast<double>(extent);
        const double whole =
            static_cast<double>(stored_elements(type.layout, shape)) * bits(type.element) / 8;
        const size_t level = is_constant ? machine.memory.size() - 1 : level_of(machine, whole);
        seconds += whole * touched_share(definition, tensor, extents, elements) * seconds_per_byte(level);
    };
    for (size_t i = 0; i < operands.size(); ++i)
        add(static_cast<int>(i), operands[i].type, operands[i].is_constant);
    add(definition.results().front(), result, false);
    return seconds;
}

std::vector<Layout> layouts_of(std::span<const Operand> operands, const TensorType& result) {
    std::vector<Layout> layouts;
    for (const Operand& operand : operands) layouts.push_back(operand.type.layout);
    layouts.push_back(result.layout);
    return layouts;
}

}  // namespace tessera::layouts
