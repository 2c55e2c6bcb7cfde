#include "search/planner/aliases.h"

#include <utility>

namespace tessera::planner {

Aliases::Aliases(const lowering::LoweringInput& input) : sharing_(input.graph.values.size()) {
    // Only names of storages are asked for, so that any block will do.
    const lowering::Storage storage(input, input.graph.blocks.front());
    for (size_t i = 0; i < input.graph.values.size(); ++i) {
        const ValueId value{static_cast<int>(i)};
        bases_.push_back(storage.base(value));
        sharing_[static_cast<size_t>(bases_.back().index)].push_back(value);
    }
}

void Aliases::take_over(ValueId result, ValueId operand) {
    const ValueId into = base(operand);
    for (const ValueId value : std::exchange(sharing_[static_cast<size_t>(result.index)], {})) {
        bases_[static_cast<size_t>(value.index)] = into;
        sharing_[static_cast<size_t>(into.index)].push_back(value);
    }
}

}  // namespace tessera::planner
