#include "distribution/spmd/local_operator.h"

#include <memory>

#include "distribution/form.h"
#include "distribution/spmd/local_definition.h"
#include "distribution/spmd/model_problem.h"

namespace tessera::spmd {

using distribution::Form;
using facts::Range;

LocalOperator local_operator(const Definition& definition, const std::vector<TensorType>& types,
                             const distribution::Choice& choice, const distribution::Placement& placement,
                             std::span<const int64_t> device) {
    facts::IterationBox iterations;
    for (const Iterator& iterator : definition.iterators) {
        const auto* extent = std::get_if<Number>(&iterator.extent->node);
        iterations.push_back({0, extent ? static_cast<int64_t>(extent->value) : 0});
    }
    for (size_t level = 0; level < choice.levels.size(); ++level) {
        if (choice.levels[level].kind != distribution::LevelChoice::Kind::kIterator) continue;
        Range& range = iterations[static_cast<size_t>(choice.levels[level].index)];
        range =
            facts::part_of(range, placement.levels[level].count, device[level], choice.levels[level].grain);
    }
    LocalOperator local;
    for (size_t t = 0; t < types.size(); ++t) {
        local.ranges.push_back(held_ranges(types[t], choice.forms[t], placement, device, {}));
        local.types.push_back(local_type(types[t], choice.forms[t], placement, device));
    }
    local.definition =
        std::make_shared<const Definition>(local_definition(definition, iterations, local.ranges, types));
    return local;
}

TensorType local_type(const TensorType& type, const Form& form, const distribution::Placement& placement,
                      std::span<const int64_t> device) {
    TensorType local = type;
    const std::vector<Range> ranges = held_ranges(type, form, placement, device, {});
    for (size_t a = 0; a < ranges.size(); ++a)
        if (type.shape[a].is_constant()) local.shape[a] = Dim(ranges[a].size());
    return local;
}

std::vector<Range> held_ranges(const TensorType& type, const Form& form,
                               const distribution::Placement& placement, std::span<const int64_t> device,
                               const std::map<std::string, int64_t>& symbols) {
    std::vector<Range> ranges = distribution::shard(form, fixed_shape(type), placement, device);
    for (size_t a = 0; a < ranges.size(); ++a)
        if (!type.shape[a].is_constant())
            ranges[a] = {0, symbols.empty() ? 0 : evaluate(type.shape[a], symbols)};
    return ranges;
}

}  // namespace tessera::spmd
