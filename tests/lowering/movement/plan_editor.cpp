#include "lowering/movement/plan_editor.h"

#include <algorithm>
#include <numeric>

#include <fmt/core.h>

#include "lowering/kernels/contraction.h"
#include "lowering/kernels/micro_kernels.h"
#include "lowering/kernels/parameters.h"
#include "lowering/plan/parts.h"
#include "lowering/storage.h"
#include "support/error.h"

namespace tessera::testing {

size_t PlanEditor::index(size_t count, std::mt19937_64& random) {
    return std::uniform_int_distribution<size_t>(0, count - 1)(random);
}

int64_t PlanEditor::one_of(std::initializer_list<int64_t> values) {
    return *(values.begin() + static_cast<ptrdiff_t>(index(values.size(), random_)));
}

Layout PlanEditor::random_layout(size_t rank) {
    Layout layout;
    if (rank == 0) return layout;
    if (coin()) {
        layout.order.resize(rank);
        std::iota(layout.order.begin(), layout.order.end(), 0);
        // A swap leaves more of the strides as kernels want them than any permutation does.
        if (coin()) {
            std::swap(pick(layout.order), pick(layout.order));
        } else {
            std::shuffle(layout.order.begin(), layout.order.end(), random_);
        }
        if (coin()) return layout;
    }
    for (size_t lanes = index(3, random_); lanes > 0; --lanes) {
        layout.lanes.push_back({static_cast<int>(index(rank, random_)), one_of({2, 3, 4, 8, 16})});
    }
    return layout;
}

std::string PlanEditor::stored_layout() {
    std::vector<const Value*> stored;
    for (const Value& v : graph_.values) {
        if (v.kind == ValueKind::kConstant || v.kind == ValueKind::kState) stored.push_back(&v);
    }
    if (stored.empty()) return {};
    const Value& value = *pick(stored);
    Layout& layout = plan_.stored[value.name] = random_layout(value.type.shape.size());
    return fmt::format("{} {}", value.name, print(layout));
}

std::vector<std::string> PlanEditor::tensors(std::initializer_list<plan::Place> places) const {
    std::vector<std::string> result;
    for (const auto& [name, tensor] : s_.tensors) {
        if (std::find(places.begin(), places.end(), tensor.place) != places.end()) result.push_back(name);
    }
    return result;
}

std::string PlanEditor::arena_layout() {
    const auto names = tensors({plan::Place::kArena, plan::Place::kTile});
    if (names.empty()) return {};
    const std::string& name = pick(names);
    const ValueId value = *graph_.find(plan::whole_of(name).value_or(name));
    Layout& layout = s_.tensors.at(name).layout = random_layout(graph_[value].type.shape.size());
    return fmt::format("{} {}", name, print(layout));
}

const Node& PlanEditor::node(const std::string& name) const {
    for (const Block& block : graph_.blocks) {
        for (const Node& n : block.nodes) {
            if (n.name == name) return n;
        }
    }
    TESSERA_CHECK(false, "{}", name);
    return graph_.blocks.front().nodes.front();
}

const Block& PlanEditor::block_of(const Node& node) const {
    const auto holds = [&](const Block& block) {
        return std::any_of(block.nodes.begin(), block.nodes.end(),
                           [&](const Node& n) { return &n == &node; });
    };
    return *std::find_if(graph_.blocks.begin(), graph_.blocks.end(), holds);
}

plan::Nest& PlanEditor::any_nest() {
    plan::Nest* nest = &pick(s_.kernels).nest;
    while (true) {
        std::vector<plan::Nest*> inner;
        for (auto& child : nest->items) {
            if (auto* n = std::get_if<plan::Nest>(&child)) inner.push_back(n);
        }
        if (inner.empty() || coin()) return *nest;
        nest = pick(inner);
    }
}

std::string PlanEditor::add_loop() {
    plan::Nest& nest = any_nest();
    const auto& iterators = node(nest.root().node).definition()->iterators;
    const plan::LoopTile loop{pick(iterators).name, one_of({1, 2, 3, 4, 5, 8, 16, 32})};
    nest.loops.insert(nest.loops.begin() + static_cast<ptrdiff_t>(index(nest.loops.size() + 1, random_)),
                      loop);
    return fmt::format("{}:{} around {}", loop.iterator, loop.tile, nest.root().node);
}

plan::Nest* PlanEditor::looped_nest() {
    for (int i = 0; i < 8; ++i) {
        plan::Nest& nest = any_nest();
        if (!nest.loops.empty()) return &nest;
    }
    return nullptr;
}

std::string PlanEditor::remove_loop() {
    plan::Nest* nest = looped_nest();
    if (!nest) return {};
    const auto at = nest->loops.begin() + static_cast<ptrdiff_t>(index(nest->loops.size(), random_));
    std::string what = fmt::format("{} around {}", at->iterator, nest->root().node);
    nest->loops.erase(at);
    return what;
}

std::string PlanEditor::change_tile() {
    plan::Nest* nest = looped_nest();
    if (!nest) return {};
    plan::LoopTile& loop = pick(nest->loops);
    loop.tile = one_of({1, 2, 3, 4, 6, 8, 12, 16, 24});
    return fmt::format("{}:{} around {}", loop.iterator, loop.tile, nest->root().node);
}

std::string PlanEditor::swap_loops() {
    plan::Nest* nest = looped_nest();
    if (!nest || nest->loops.size() < 2) return {};
    std::shuffle(nest->loops.begin(), nest->loops.end(), random_);
    return "of " + plan::print(*nest);
}

plan::Leaf& PlanEditor::any_leaf() {
    plan::Nest* nest = &any_nest();
    auto* child = &pick(nest->items);
    while (auto* inner = std::get_if<plan::Nest>(child)) child = &pick(inner->items);
    return std::get<plan::Leaf>(*child);
}

std::string PlanEditor::micro_kernel() {
    plan::Leaf& leaf = any_leaf();
    const Definition& d = *node(leaf.node).definition();
    std::vector<const plan::MicroKernel*> possible;
    for (const plan::MicroKernel* k : kernels::micro_kernels()) {
        if (k->why_not(d).empty() || index(32, random_) == 0)
            possible.push_back(k);  // seldom one that does not fit
    }
    const plan::MicroKernel& kernel = *pick(possible);
    leaf = plan::Leaf(leaf.node, kernel);
    for (const plan::Parameter& p : kernel.parameters) {
        if (!p.is_required && index(4, random_) == 0) continue;
        set_any(d, leaf, p);
    }
    if (leaf.is_given(kernels::parameter::kStreams)) choose_streams(leaf);
    if (leaf.is_given(kernels::parameter::kReduction) && index(4, random_) != 0) choose_roles(d, leaf);
    return plan::print(plan::Nest{{}, {leaf}});
}

void PlanEditor::set_any(const Definition& d, plan::Leaf& leaf, const plan::Parameter& p) {
    if (p.is_iterator()) {
        leaf.set(p, pick(d.iterators).name);
    } else {
        leaf.set(p, number(p.name));
    }
}

void PlanEditor::choose_roles(const Definition& d, plan::Leaf& leaf) {
    const std::vector<kernels::Contraction> possible = kernels::contractions_of(d);
    if (possible.empty()) return;
    const kernels::Contraction& roles = pick(possible);
    const auto name = [&](const std::vector<int>& iterators) {
        return d.iterators[static_cast<size_t>(pick(iterators))].name;
    };
    leaf.set(kernels::parameter::kColumns, name(roles.n));
    leaf.set(kernels::parameter::kReduction, name(roles.k));
    leaf.reset(kernels::parameter::kRowsOfA);
    if (!roles.m.empty() && coin()) leaf.set(kernels::parameter::kRowsOfA, name(roles.m));
    // The layout of a weight and the lanes of its reader often change together or not at all.
    const Value& weight = graph_[lowering::value_of(node(leaf.node), pick(roles.b_reads).tensor)];
    if (weight.kind != ValueKind::kConstant || coin()) return;
    plan_.stored[weight.name] = coin() ? Layout{} : random_layout(weight.type.shape.size());
}

void PlanEditor::choose_streams(plan::Leaf& leaf) {
    leaf.reset(kernels::parameter::kStreams);
    if (coin()) return;
    leaf.set(kernels::parameter::kStreams, leaf.number(kernels::parameter::kGroups))
        .reset(kernels::parameter::kPanelBlocks);
}

int64_t PlanEditor::number(std::string_view parameter) {
    if (parameter == "lanes") return one_of({1, 2, 4, 8, 16, 16, 32, 3});
    if (parameter == "depth") return one_of({2, 6, 8, 32, 3});
    return one_of({1, 2, 3, 4, 6});
}

std::string PlanEditor::parameter() {
    plan::Leaf& leaf = any_leaf();
    set_any(*node(leaf.node).definition(), leaf, pick(leaf.kernel->parameters));
    return plan::print(plan::Nest{{}, {leaf}});
}

std::string PlanEditor::fuse() {
    if (s_.kernels.size() < 2) return {};
    const size_t from = index(s_.kernels.size() - 1, random_);
    const size_t to = from + 1 + index(std::min<size_t>(3, s_.kernels.size() - from - 1), random_);
    plan::KernelPlan producer = s_.kernels[from];
    if (producer.block != s_.kernels[to].block) return {};
    plan::Nest& nest = s_.kernels[to].nest;
    const auto all = plan::leaves(producer.nest);
    for (auto leaf = all.rbegin(); leaf != all.rend(); ++leaf) nest.items.insert(nest.items.begin(), **leaf);
    if (coin()) {
        for (const plan::Leaf* leaf : all) {
            for (const ValueId result : node(leaf->node).results) make_tile(result);
        }
    }
    if (nest.loops.empty() && coin()) {
        nest.loops.push_back(
            {pick(node(nest.root().node).definition()->iterators).name, one_of({1, 2, 4, 8})});
    }
    std::string what = fmt::format("{} into {}", producer.nest.root().node, plan::print(nest));
    s_.kernels.erase(s_.kernels.begin() + static_cast<ptrdiff_t>(from));
    return what;
}

void PlanEditor::make_tile(ValueId value) {
    const auto at = s_.tensors.find(graph_[value].name);
    if (at != s_.tensors.end() && at->second.place == plan::Place::kArena)
        at->second = {plan::Place::kTile, {}, {}, 0, at->second.layout};
}

std::string PlanEditor::split() {
    const size_t which = index(s_.kernels.size(), random_);
    const plan::KernelPlan kernel = s_.kernels[which];
    const auto all = plan::leaves(kernel.nest);
    if (all.size() < 2) return {};
    std::vector<plan::KernelPlan> apart;
    for (const plan::Leaf* leaf : all) {
        apart.push_back({kernel.block, {{}, {*leaf}}});
        for (const ValueId result : node(leaf->node).results) {
            const auto at = s_.tensors.find(graph_[result].name);
            if (at != s_.tensors.end() && at->second.place == plan::Place::kTile)
                at->second = {plan::Place::kArena, {}, {}, 0, at->second.layout};
        }
    }
    s_.kernels.erase(s_.kernels.begin() + static_cast<ptrdiff_t>(which));
    s_.kernels.insert(s_.kernels.begin() + static_cast<ptrdiff_t>(which), apart.begin(), apart.end());
    return plan::print(kernel.nest);
}

std::string PlanEditor::inner_nest() {
    plan::Nest& nest = any_nest();
    const auto count = static_cast<ptrdiff_t>(1 + index(nest.items.size(), random_));
    plan::Nest inner{{}, {nest.items.begin(), nest.items.begin() + count}};
    inner.loops.push_back({pick(node(inner.root().node).definition()->iterators).name, one_of({1, 2, 4, 8})});
    nest.items.erase(nest.items.begin(), nest.items.begin() + count);
    nest.items.insert(nest.items.begin(), inner);
    return plan::print(nest);
}

std::string PlanEditor::own_storage() {
    const auto names = tensors({plan::Place::kView, plan::Place::kInPlace});
    if (names.empty()) return {};
    const std::string& name = pick(names);
    const bool was_view = s_.tensors.at(name).place == plan::Place::kView;
    s_.tensors.at(name) = {};
    if (was_view) {
        for (const Block& block : graph_.blocks) {
            for (const Node& n : block.nodes) {
                if (graph_[n.results.front()].name == name) insert_kernel(block, n);
            }
        }
    }
    return name;
}

void PlanEditor::insert_kernel(const Block& block, const Node& n) {
    size_t place = 0;
    for (size_t k = 0; k < s_.kernels.size(); ++k) {
        if (s_.kernels[k].block != block.name) continue;
        const auto reads = [&](const plan::Leaf* leaf) { return &node(leaf->node) < &n; };
        const auto all = plan::leaves(s_.kernels[k].nest);
        if (std::any_of(all.begin(), all.end(), reads)) place = k + 1;
    }
    s_.kernels.insert(s_.kernels.begin() + static_cast<ptrdiff_t>(place),
                      {block.name, {{}, {plan::Leaf(n.name, *kernels::find_micro_kernel("loops"))}}});
}

std::string PlanEditor::take_over() {
    const auto names = tensors({plan::Place::kArena, plan::Place::kTile});
    if (names.empty()) return {};
    const std::string& name = pick(names);
    for (const Block& block : graph_.blocks) {
        for (const Node& n : block.nodes) {
            if (graph_[n.results.front()].name != name || n.operands.empty()) continue;
            const bool as_view = index(3, random_) == 0;
            s_.tensors.at(name) = {as_view ? plan::Place::kView : plan::Place::kInPlace,
                                   graph_[pick(n.operands)].name,
                                   {},
                                   0,
                                   {}};
            if (as_view) {
                std::erase_if(s_.kernels, [&](const plan::KernelPlan& k) {
                    return plan::leaves(k.nest).size() == 1 && k.nest.root().node == n.name;
                });
            }
            return fmt::format("{} takes {}", name, s_.tensors.at(name).of);
        }
    }
    return {};
}

std::string PlanEditor::by_tiles() {
    const auto names = tensors({plan::Place::kArena, plan::Place::kTile});
    if (names.empty()) return {};
    const std::string& name = pick(names);
    plan::TensorPlan& tensor = s_.tensors.at(name);
    tensor = {tensor.place == plan::Place::kTile ? plan::Place::kArena : plan::Place::kTile,
              {},
              {},
              0,
              tensor.layout};
    return name;
}

}  // namespace tessera::testing
