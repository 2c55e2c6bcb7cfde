#include <algorithm>

#include <fmt/core.h>

#include "lowering/kernels/micro_kernels.h"
#include "lowering/kernels/parameters.h"
#include "lowering/movement/plan_editor.h"
#include "lowering/parts.h"
#include "lowering/plan/parts.h"

namespace tessera::testing {

std::string PlanEditor::divide() {
    plan::KernelPlan& kernel = pick(s_.kernels);
    auto& loops = kernel.nest.loops;
    if (const plan::LoopTile* before = plan::divided_loop(kernel.nest)) {
        const std::string what = fmt::format("{}: no more {}", kernel.nest.root().node, before->iterator);
        undivide(kernel.nest);
        if (coin()) return what;
    }
    const auto& iterators = node(kernel.nest.root().node).definition()->iterators;
    const plan::LoopTile loop{pick(iterators).name, one_of({1, 2, 3, 4, 5, 8, 16, 32}), nest::Bind::kWorker};
    loops.insert(loops.begin(), loop);
    kernel.alone = false;
    return fmt::format("{}: {}:{}", kernel.nest.root().node, loop.iterator, loop.tile);
}

void PlanEditor::undivide(plan::Nest& nest) {
    std::erase_if(nest.loops, [](const plan::LoopTile& loop) { return loop.is_divided(); });
    for (auto& child : nest.items) {
        if (auto* inner = std::get_if<plan::Nest>(&child)) undivide(*inner);
    }
}

std::string PlanEditor::divide_fold() {
    const size_t at = index(s_.kernels.size(), random_);
    plan::KernelPlan& kernel = s_.kernels[at];
    const Node& folded = node(kernel.nest.root().node);
    std::vector<std::string> reductions;
    for (const Iterator& x : folded.definition()->iterators) {
        if (x.is_reduction) reductions.push_back(x.name);
    }
    if (reductions.empty() || lowering::parted_operator(kernel.nest, block_of(folded))) return {};
    undivide(kernel.nest);
    kernel.alone = false;
    plan::Nest* nest = &kernel.nest;  // an inner one with the same root, or the whole
    while (auto* inner = std::get_if<plan::Nest>(&nest->items.back())) {
        if (coin()) break;
        nest = inner;
    }
    const auto loop = std::find_if(nest->loops.begin(), nest->loops.end(), [&](const plan::LoopTile& l) {
        return std::find(reductions.begin(), reductions.end(), l.iterator) != reductions.end();
    });
    if (loop != nest->loops.end()) {
        loop->bind = nest::Bind::kWorker;
    } else {
        const plan::LoopTile fresh{pick(reductions), one_of({1, 2, 3, 4, 5, 8, 16, 32}), nest::Bind::kWorker};
        nest->loops.insert(
            nest->loops.begin() + static_cast<ptrdiff_t>(index(nest->loops.size() + 1, random_)), fresh);
    }
    plan::Leaf combine(folded.name, *kernels::find_micro_kernel("combine"));
    const auto& iterators = folded.definition()->iterators;
    if (coin()) {
        combine.set(kernels::parameter::kIteratorOfLanes, pick(iterators).name);
        combine.set(kernels::parameter::kLanes, number("lanes"));
    }
    plan::KernelPlan behind{kernel.block, {{}, {combine}}, true};
    if (index(3, random_) != 0)
        behind.nest.loops.push_back({pick(iterators).name, one_of({1, 2, 4, 8}), nest::Bind::kWorker});
    for (const ValueId result : folded.results)
        s_.tensors[plan::parts_of(graph_[result].name)] = {plan::Place::kArena, {}, {}, 0, {}, true};
    const std::string what = plan::print(kernel.nest);
    s_.kernels.insert(s_.kernels.begin() + static_cast<ptrdiff_t>(at) + 1, behind);
    return what;
}

std::string PlanEditor::alone() {
    plan::KernelPlan& kernel = pick(s_.kernels);
    kernel.alone = !kernel.alone;
    if (kernel.alone) undivide(kernel.nest);
    return fmt::format("{}: {}", kernel.nest.root().node, kernel.alone);
}

std::string PlanEditor::barrier() {
    plan::KernelPlan& kernel = pick(s_.kernels);
    kernel.barrier = !kernel.barrier;
    return fmt::format("{}: {}", kernel.nest.root().node, kernel.barrier);
}

std::string PlanEditor::own_copies() {
    const auto names = tensors({plan::Place::kArena});
    if (names.empty()) return {};
    const std::string& name = pick(names);
    plan::TensorPlan& tensor = s_.tensors.at(name);
    tensor.each_worker = !tensor.each_worker;
    return fmt::format("{}: {}", name, tensor.each_worker);
}

std::string PlanEditor::workers() {
    plan_.workers = one_of({1, 2, 3, 4, 5});
    return fmt::format("{}", plan_.workers);
}

}  // namespace tessera::testing
