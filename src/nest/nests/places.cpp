#include "nest/nests/places.h"

#include "support/error.h"

namespace tessera::nests {

Places::Places(const Kernel& kernel, const Nest& nest, Influence& influence)
    : kernel_(kernel), nest_(nest), influence_(influence) {
    for (size_t op = 0; op < kernel.operators.size(); ++op) add_operator(static_cast<int>(op));
}

void Places::add_operator(int op) {
    const Operator& from = kernel_.operators[static_cast<size_t>(op)];
    const size_t depth = nest_.around[static_cast<size_t>(op)].size();
    operands_.emplace_back();
    needs_.emplace_back();
    for (const Operand& operand : from.operands) {
        const uint64_t loops = influence_.on_read(op, operand.tensor, depth);
        operands_.back().push_back(operand_place(op, operand.tensor, loops));
        needs_.back().push_back({.needed = Needed(loops), .box = {}});
    }
    results_.emplace_back();
    for (const Result& result : from.results) {
        uint64_t loops = 0;
        for (const ResultAxis& axis : result.axes)
            loops |= op == nest_.last ? influence_.on_range(op, axis.iterator, depth)
                                      : influence_.on_frame(op, axis.iterator, depth);
        const auto t = static_cast<size_t>(result.tensor);
        const bool is_written = op == nest_.last || nest_.visible[t];
        results_.back().push_back(add(kernel_.tensors[t].name, result.tensor,
                                      is_written ? BufferRole::kWritten : BufferRole::kKept, loops, op,
                                      depth));
    }
}

size_t Places::operand_place(int op, int tensor, uint64_t loops) {
    const auto t = static_cast<size_t>(tensor);
    if (kernel_.tensors[t].maker >= 0) return result_place(tensor);
    if (const Move* load = nest_.find(MoveKind::kLoad, tensor, 1)) return load_place(op, *load);
    const std::string name =
        kernel_.tensors[t].name + " for " + kernel_.operators[static_cast<size_t>(op)].name();
    return add(name, tensor, BufferRole::kRead, loops, op, nest_.around[static_cast<size_t>(op)].size());
}

size_t Places::load_place(int op, const Move& load) {
    if (const auto known = loads_.find(load.tensor); known != loads_.end()) return known->second;
    const Tensor& loaded = kernel_.tensors[static_cast<size_t>(load.tensor)];
    return loads_[load.tensor] = add(loaded.name, load.tensor, BufferRole::kRead,
                                     influence_.on_load(load.tensor, load.depth), op, load.depth);
}

size_t Places::result_place(int tensor) const {
    const auto maker = static_cast<size_t>(kernel_.tensors[static_cast<size_t>(tensor)].maker);
    const std::vector<Result>& results = kernel_.operators[maker].results;
    for (size_t i = 0; i < results.size(); ++i)
        if (results[i].tensor == tensor) return results_[maker][i];
    TESSERA_CHECK(false, "operator {} does not make tensor {}", maker, tensor);
    return 0;
}

/// `op`: some operator inside of the first `depth` loops around it, which are those around the place.
size_t Places::add(std::string name, int tensor, BufferRole role, uint64_t loops, int op, size_t depth) {
    const std::vector<LoopPosition>& around = nest_.around[static_cast<size_t>(op)];
    all_.push_back({.buffer = Buffer(kernel_, std::move(name), tensor, role),
                    .dependence = Dependence(loops),
                    .loops = {around.begin(), around.begin() + static_cast<std::ptrdiff_t>(depth)},
                    .needed = Needed(loops)});
    return all_.size() - 1;
}

}  // namespace tessera::nests
