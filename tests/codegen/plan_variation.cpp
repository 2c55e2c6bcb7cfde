#include "codegen/plan_variation.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "kernels/micro_kernel.h"
#include "movement/storage.h"
#include "planner/default_planner.h"
#include "planner/leaf_choice.h"
#include "planner/place_buffers.h"
#include "planner/verify_plan.h"
#include "planner/verify_structure.h"
#include "support/error.h"

namespace tessera::testing {
namespace {

/// One random edit of a plan; nothing is checked here.
class Editor {
public:
    Editor(const Graph& graph, Plan& plan, std::mt19937_64& random)
        : graph_(graph),
          plan_(plan),
          s_(plan.specialisations[index(plan.specialisations.size(), random)]),
          random_(random) {}

    using Kind = std::pair<const char*, std::string (Editor::*)()>;
    static const std::vector<Kind>& kinds() {
        static const std::vector<Kind> all = {{"stored", &Editor::stored_layout},
                                              {"layout", &Editor::arena_layout},
                                              {"loop", &Editor::add_loop},
                                              {"unloop", &Editor::remove_loop},
                                              {"tile", &Editor::change_tile},
                                              {"order", &Editor::swap_loops},
                                              {"kernel", &Editor::micro_kernel},
                                              {"number", &Editor::parameter},
                                              {"fuse", &Editor::fuse},
                                              {"split", &Editor::split},
                                              {"inner", &Editor::inner_nest},
                                              {"own", &Editor::own_storage},
                                              {"alias", &Editor::take_over},
                                              {"tiles", &Editor::by_tiles}};
        return all;
    }

    /// What was done, "" if there was nothing to do it to.
    std::string apply(const Kind& kind) { return (this->*kind.second)(); }

private:
    static size_t index(size_t count, std::mt19937_64& random) {
        return std::uniform_int_distribution<size_t>(0, count - 1)(random);
    }
    template <typename List>
    auto& pick(List&& list) {
        return list[index(std::size(list), random_)];
    }
    bool coin() { return index(2, random_) == 0; }
    int64_t one_of(std::initializer_list<int64_t> values) {
        return *(values.begin() + static_cast<ptrdiff_t>(index(values.size(), random_)));
    }

    Layout random_layout(size_t rank) {
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

    std::string stored_layout() {
        std::vector<const Value*> stored;
        for (const Value& v : graph_.values) {
            if (v.kind == ValueKind::kConstant || v.kind == ValueKind::kState) stored.push_back(&v);
        }
        if (stored.empty()) return {};
        const Value& value = *pick(stored);
        Layout& layout = plan_.stored[value.name] = random_layout(value.type.shape.size());
        return fmt::format("{} {}", value.name, print(layout));
    }

    std::vector<std::string> tensors(std::initializer_list<Place> places) const {
        std::vector<std::string> result;
        for (const auto& [name, tensor] : s_.tensors) {
            if (std::find(places.begin(), places.end(), tensor.place) != places.end()) result.push_back(name);
        }
        return result;
    }

    std::string arena_layout() {
        const auto names = tensors({Place::kArena, Place::kTile});
        if (names.empty()) return {};
        const std::string& name = pick(names);
        Layout& layout = s_.tensors.at(name).layout =
            random_layout(graph_[*graph_.find(name)].type.shape.size());
        return fmt::format("{} {}", name, print(layout));
    }

    const Node& node(const std::string& name) const {
        for (const Block& block : graph_.blocks) {
            for (const Node& n : block.nodes) {
                if (n.name == name) return n;
            }
        }
        TESSERA_CHECK(false, "{}", name);
        return graph_.blocks.front().nodes.front();
    }

    /// A random nest of a random kernel: the whole one or one inside.
    Nest& any_nest() {
        Nest* nest = &pick(s_.kernels).nest;
        while (true) {
            std::vector<Nest*> inner;
            for (auto& child : nest->children) {
                if (auto* n = std::get_if<Nest>(&child)) inner.push_back(n);
            }
            if (inner.empty() || coin()) return *nest;
            nest = pick(inner);
        }
    }

    std::string add_loop() {
        Nest& nest = any_nest();
        const auto& iterators = node(root(nest).node).definition()->iterators;
        const LoopTile loop{pick(iterators).name, one_of({1, 2, 3, 4, 5, 8, 16, 32})};
        nest.loops.insert(nest.loops.begin() + static_cast<ptrdiff_t>(index(nest.loops.size() + 1, random_)),
                          loop);
        return fmt::format("{}:{} around {}", loop.iterator, loop.tile, root(nest).node);
    }

    Nest* looped_nest() {
        for (int i = 0; i < 8; ++i) {
            Nest& nest = any_nest();
            if (!nest.loops.empty()) return &nest;
        }
        return nullptr;
    }

    std::string remove_loop() {
        Nest* nest = looped_nest();
        if (!nest) return {};
        const auto at = nest->loops.begin() + static_cast<ptrdiff_t>(index(nest->loops.size(), random_));
        std::string what = fmt::format("{} around {}", at->iterator, root(*nest).node);
        nest->loops.erase(at);
        return what;
    }

    std::string change_tile() {
        Nest* nest = looped_nest();
        if (!nest) return {};
        LoopTile& loop = pick(nest->loops);
        loop.tile = one_of({1, 2, 3, 4, 6, 8, 12, 16, 24});
        return fmt::format("{}:{} around {}", loop.iterator, loop.tile, root(*nest).node);
    }

    std::string swap_loops() {
        Nest* nest = looped_nest();
        if (!nest || nest->loops.size() < 2) return {};
        std::shuffle(nest->loops.begin(), nest->loops.end(), random_);
        return "of " + print(*nest);
    }

    Leaf& any_leaf() {
        Nest* nest = &any_nest();
        auto* child = &pick(nest->children);
        while (auto* inner = std::get_if<Nest>(child)) child = &pick(inner->children);
        return std::get<Leaf>(*child);
    }

    std::string micro_kernel() {
        Leaf& leaf = any_leaf();
        const Definition& d = *node(leaf.node).definition();
        std::vector<const MicroKernel*> possible;
        for (const MicroKernel& k : micro_kernels()) {
            if (k.why_not(d).empty() || index(32, random_) == 0)
                possible.push_back(&k);  // seldom one that does not fit
        }
        const MicroKernel& kernel = *pick(possible);
        leaf.micro_kernel = kernel.name;
        leaf.parameters.clear();
        for (const Parameter& p : kernel.parameters) {
            if (!p.is_required && index(4, random_) == 0) continue;
            leaf.parameters[std::string(p.name)] =
                p.is_iterator ? pick(d.iterators).name : std::to_string(number(p.name));
        }
        if (leaf.parameters.contains("k") && index(4, random_) != 0) choose_roles(d, leaf);
        return print(Nest{{}, {leaf}});
    }

    /// Iterators of a contraction that fit, which random ones seldom do.
    void choose_roles(const Definition& d, Leaf& leaf) {
        const std::vector<ContractionRoles> possible = contraction_roles(d);
        if (possible.empty()) return;
        const ContractionRoles& roles = pick(possible);
        const auto name = [&](const std::vector<int>& iterators) {
            return d.iterators[static_cast<size_t>(pick(iterators))].name;
        };
        leaf.parameters["n"] = name(roles.n);
        leaf.parameters["k"] = name(roles.k);
        leaf.parameters.erase("m");
        if (!roles.m.empty() && coin()) leaf.parameters["m"] = name(roles.m);
        // The layout of a weight and the lanes of its reader often change together or not at all.
        const Value& weight = graph_[value_of(node(leaf.node), roles.b)];
        if (weight.kind != ValueKind::kConstant || coin()) return;
        plan_.stored[weight.name] = coin() ? Layout{} : random_layout(weight.type.shape.size());
    }

    int64_t number(std::string_view parameter) {
        if (parameter == "lanes") return one_of({1, 2, 4, 8, 16, 16, 32, 3});
        return one_of({1, 2, 3, 4, 6});
    }

    std::string parameter() {
        Leaf& leaf = any_leaf();
        const MicroKernel& kernel = *find_micro_kernel(leaf.micro_kernel);
        const Parameter& p = pick(kernel.parameters);
        leaf.parameters[std::string(p.name)] = p.is_iterator
                                                   ? pick(node(leaf.node).definition()->iterators).name
                                                   : std::to_string(number(p.name));
        return print(Nest{{}, {leaf}});
    }

    /// One kernel's operators in front of those of a later one, under its loops or under an inner nest's.
    std::string fuse() {
        if (s_.kernels.size() < 2) return {};
        const size_t from = index(s_.kernels.size() - 1, random_);
        const size_t to = from + 1 + index(std::min<size_t>(3, s_.kernels.size() - from - 1), random_);
        KernelPlan producer = s_.kernels[from];
        if (producer.block != s_.kernels[to].block) return {};
        Nest& nest = s_.kernels[to].nest;
        const auto all = leaves(producer.nest);
        for (auto leaf = all.rbegin(); leaf != all.rend(); ++leaf)
            nest.children.insert(nest.children.begin(), **leaf);
        if (coin()) {
            for (const Leaf* leaf : all) {
                for (const ValueId result : node(leaf->node).results) make_tile(result);
            }
        }
        if (nest.loops.empty() && coin()) {
            nest.loops.push_back(
                {pick(node(root(nest).node).definition()->iterators).name, one_of({1, 2, 4, 8})});
        }
        std::string what = fmt::format("{} into {}", root(producer.nest).node, print(nest));
        s_.kernels.erase(s_.kernels.begin() + static_cast<ptrdiff_t>(from));
        return what;
    }

    void make_tile(ValueId value) {
        const auto at = s_.tensors.find(graph_[value].name);
        if (at != s_.tensors.end() && at->second.place == Place::kArena)
            at->second = {Place::kTile, {}, {}, 0, at->second.layout};
    }

    /// All operators of a kernel into kernels of their own.
    std::string split() {
        const size_t which = index(s_.kernels.size(), random_);
        const KernelPlan kernel = s_.kernels[which];
        const auto all = leaves(kernel.nest);
        if (all.size() < 2) return {};
        std::vector<KernelPlan> apart;
        for (const Leaf* leaf : all) {
            apart.push_back({kernel.block, {{}, {*leaf}}});
            for (const ValueId result : node(leaf->node).results) {
                const auto at = s_.tensors.find(graph_[result].name);
                if (at != s_.tensors.end() && at->second.place == Place::kTile)
                    at->second = {Place::kArena, {}, {}, 0, at->second.layout};
            }
        }
        s_.kernels.erase(s_.kernels.begin() + static_cast<ptrdiff_t>(which));
        s_.kernels.insert(s_.kernels.begin() + static_cast<ptrdiff_t>(which), apart.begin(), apart.end());
        return print(kernel.nest);
    }

    /// The first children of a nest under a loop of their own.
    std::string inner_nest() {
        Nest& nest = any_nest();
        const auto count = static_cast<ptrdiff_t>(1 + index(nest.children.size(), random_));
        Nest inner{{}, {nest.children.begin(), nest.children.begin() + count}};
        inner.loops.push_back(
            {pick(node(root(inner).node).definition()->iterators).name, one_of({1, 2, 4, 8})});
        nest.children.erase(nest.children.begin(), nest.children.begin() + count);
        nest.children.insert(nest.children.begin(), inner);
        return print(nest);
    }

    /// Storage of its own for a view or a replacement; a view gets a kernel.
    std::string own_storage() {
        const auto names = tensors({Place::kView, Place::kInPlace});
        if (names.empty()) return {};
        const std::string& name = pick(names);
        const bool was_view = s_.tensors.at(name).place == Place::kView;
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

    /// A kernel behind those of the operators that stand before the node in the block.
    void insert_kernel(const Block& block, const Node& n) {
        size_t place = 0;
        for (size_t k = 0; k < s_.kernels.size(); ++k) {
            if (s_.kernels[k].block != block.name) continue;
            const auto reads = [&](const Leaf* leaf) { return &node(leaf->node) < &n; };
            const auto all = leaves(s_.kernels[k].nest);
            if (std::any_of(all.begin(), all.end(), reads)) place = k + 1;
        }
        s_.kernels.insert(s_.kernels.begin() + static_cast<ptrdiff_t>(place),
                          {block.name, {{}, {Leaf{n.name, "loops", {}}}}});
    }

    /// A view or the storage of an operand for something that has its own.
    std::string take_over() {
        const auto names = tensors({Place::kArena, Place::kTile});
        if (names.empty()) return {};
        const std::string& name = pick(names);
        for (const Block& block : graph_.blocks) {
            for (const Node& n : block.nodes) {
                if (graph_[n.results.front()].name != name || n.operands.empty()) continue;
                const bool as_view = index(3, random_) == 0;
                s_.tensors.at(name) = {
                    as_view ? Place::kView : Place::kInPlace, graph_[pick(n.operands)].name, {}, 0, {}};
                if (as_view) {
                    std::erase_if(s_.kernels, [&](const KernelPlan& k) {
                        return leaves(k.nest).size() == 1 && root(k.nest).node == n.name;
                    });
                }
                return fmt::format("{} takes {}", name, s_.tensors.at(name).of);
            }
        }
        return {};
    }

    std::string by_tiles() {
        const auto names = tensors({Place::kArena, Place::kTile});
        if (names.empty()) return {};
        const std::string& name = pick(names);
        TensorPlan& tensor = s_.tensors.at(name);
        tensor = {tensor.place == Place::kTile ? Place::kArena : Place::kTile, {}, {}, 0, tensor.layout};
        return name;
    }

    const Graph& graph_;
    Plan& plan_;
    SpecialisationPlan& s_;
    std::mt19937_64& random_;
};

}  // namespace

Plan placed_and_verified(const Graph& graph, Plan plan) {
    for (SpecialisationPlan& s : plan.specialisations) {
        for (auto& [name, tensor] : s.tensors) {
            tensor.offset.reset();
            tensor.bytes = 0;
        }
    }
    verify_structure(graph, plan, "edited plan");
    plan = place_buffers(graph, parse_plan(print(plan), "edited plan"));
    verify_plan(graph, plan, "edited plan");
    return plan;
}

Variation vary(const Graph& graph, const Plan& plan, int accepted, int attempts, std::mt19937_64& random) {
    Variation variation{plan, {}};
    for (int i = 0; i < attempts && accepted > 0; ++i) {
        Plan edited = variation.plan;
        Editor editor(graph, edited, random);
        const auto& kinds = Editor::kinds();
        const Editor::Kind& kind = kinds[std::uniform_int_distribution<size_t>(0, kinds.size() - 1)(random)];
        const std::string what = editor.apply(kind);
        if (what.empty()) continue;
        Edit edit{fmt::format("{}: {}", kind.first, what), {}};
        try {
            edited = placed_and_verified(graph, std::move(edited));
            if (!(edited == variation.plan)) {
                variation.plan = std::move(edited);
                --accepted;
            }
        } catch (const Error& error) {
            edit.refused = error.what();
        }
        variation.edits.push_back(std::move(edit));
    }
    return variation;
}

std::vector<std::string> edit_kinds() {
    std::vector<std::string> result;
    for (const auto& [name, edit] : Editor::kinds()) result.emplace_back(name);
    return result;
}

}  // namespace tessera::testing
