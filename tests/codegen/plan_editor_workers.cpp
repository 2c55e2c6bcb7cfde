#include <algorithm>

#include <fmt/format.h>

#include "codegen/plan_editor.h"

namespace tessera::testing {

std::string PlanEditor::divide() {
    KernelPlan& kernel = pick(s_.kernels);
    auto& loops = kernel.nest.loops;
    if (divided_loop(kernel.nest)) {
        const LoopTile before = loops.front();
        loops.erase(loops.begin());
        if (coin()) return fmt::format("{}: no more {}", root(kernel.nest).node, before.iterator);
    }
    const auto& iterators = node(root(kernel.nest).node).definition()->iterators;
    const LoopTile loop{pick(iterators).name, one_of({1, 2, 3, 4, 5, 8, 16, 32}), true};
    loops.insert(loops.begin(), loop);
    kernel.alone = false;
    return fmt::format("{}: {}:{}", root(kernel.nest).node, loop.iterator, loop.tile);
}

std::string PlanEditor::alone() {
    KernelPlan& kernel = pick(s_.kernels);
    kernel.alone = !kernel.alone;
    if (kernel.alone && divided_loop(kernel.nest)) kernel.nest.loops.erase(kernel.nest.loops.begin());
    return fmt::format("{}: {}", root(kernel.nest).node, kernel.alone);
}

std::string PlanEditor::barrier() {
    KernelPlan& kernel = pick(s_.kernels);
    kernel.barrier = !kernel.barrier;
    return fmt::format("{}: {}", root(kernel.nest).node, kernel.barrier);
}

std::string PlanEditor::own_copies() {
    const auto names = tensors({Place::kArena});
    if (names.empty()) return {};
    const std::string& name = pick(names);
    TensorPlan& tensor = s_.tensors.at(name);
    tensor.each_worker = !tensor.each_worker;
    return fmt::format("{}: {}", name, tensor.each_worker);
}

std::string PlanEditor::workers() {
    plan_.workers = one_of({1, 2, 3, 4, 5});
    return fmt::format("{}", plan_.workers);
}

}  // namespace tessera::testing
