// Blocks are searched one by one, each decision kept if its kernel lowers.
#include "search/planner/default_planner.h"

#include <algorithm>
#include <iterator>
#include <type_traits>
#include <utility>

#include "lowering/kernels/micro_kernels.h"
#include "lowering/lower.h"
#include "search/planner/block_search.h"
#include "search/planner/divide_work.h"
#include "search/planner/grouping.h"
#include "search/planner/leaf_alternatives.h"
#include "search/planner/leaf_choice.h"
#include "search/planner/places.h"
#include "search/planner/priced.h"
#include "search/planner/ranked_leaves.h"
#include "search/planner/specialisations.h"
#include "search/planner/stored_layout.h"
#include "support/error.h"
#include "support/in_order.h"

namespace tessera::planner {
namespace {

/// A product takes other registers only if its nest then takes less than this part of the time: a smaller
/// gain may vanish when it is measured again.
constexpr double kAlike = 0.99;

/// If the memory decides, the kernel is taken that waits less for it, since at other times it gives more.
bool is_faster(const cost::Evaluation& a, const cost::Evaluation& b, double alike) {
    return a.seconds < alike * b.seconds ||
           (a.seconds <= b.seconds && a.compute + a.stalls < alike * (b.compute + b.stalls));
}

/// The layout of such an operator's matrix matters more than the operators that it is fused with.
bool multiplies_weights(const Graph& graph, const Node& node) {
    return std::ranges::any_of(node.operands, [&](ValueId operand) {
        return graph[operand].kind == ValueKind::kConstant && graph[operand].type.shape.size() > 1;
    });
}

/// Divides the nests of a search before layouts are known: it finds only what is fused for sure.
constexpr int64_t kLessForLayouts = 20;

/// A specialisation with its kernels, and what the search of each block found.
struct SearchedSpecialisation {
    plan::SpecialisationPlan plan;
    std::vector<std::pair<std::string, schedule::Schedule>> schedules;  ///< with the names of blocks
    std::optional<lowering::Refusal> refusal;                           ///< why a stated kernel cannot stand
};

/// Changes its own copy of the plan: planners of other specialisations may run at the same time.
class SpecialisationPlanner {
public:
    /// @param at the specialisation of the plan
    /// @param known kernels of this specialisation alone
    SpecialisationPlanner(const Graph& graph, plan::Plan plan, size_t at, const PlannerOptions& options,
                          schedule::KnownKernels& known)
        : graph_(graph),
          plan_(std::move(plan)),
          constants_(plan::constant_section(graph, plan_)),
          out_(plan_.specialisations[at]),
          options_(options),
          known_(known),
          input_(lowering::lowering_input(graph, plan_, out_, constants_)),
          places_(input_, out_) {}
    SpecialisationPlanner(const SpecialisationPlanner&) = delete;
    SpecialisationPlanner& operator=(const SpecialisationPlanner&) = delete;

    SearchedSpecialisation run() {
        SearchedSpecialisation searched;
        for (const Block& block : graph_.blocks) {
            const BlockView view = view_of(block);
            BlockSchedule found = kernels_of(view);
            if (found.refusal) {
                searched.refusal = std::move(found.refusal);
                return searched;
            }
            cost::PricedBlock priced = priced_block(input_, block, options_);
            for (const FoundKernel& kernel : found.kernels)
                out_.kernels.push_back({block.name, choose_leaves(view, kernel, priced)});
            searched.schedules.emplace_back(block.name, std::move(found.schedule));
        }
        divide_work(input_, out_, options_);
        searched.plan = out_;
        return searched;
    }

    /// The operators of each kernel.
    std::vector<Group> groups() {
        std::vector<Group> groups;
        for (const Block& block : graph_.blocks)
            for (Group& group : expected(kernels_of(view_of(block))).groups())
                groups.push_back(std::move(group));
        return groups;
    }

    /// The kernels of a block are given together.
    std::vector<StatedVerdict> prices(const std::vector<plan::StatedKernel>& kernels) {
        std::vector<StatedVerdict> all;
        for (const Block& block : graph_.blocks) {
            std::vector<plan::StatedKernel> here;
            const size_t before = all.size();
            for (size_t k = 0; k < kernels.size(); ++k) {
                if (!kernels[k].specialisation.empty() && kernels[k].specialisation != out_.name) continue;
                if (!block.find(kernels[k].nest.root().node)) continue;
                here.push_back(kernels[k]);
                all.push_back({k, out_.name, {}});
            }
            if (here.empty()) continue;
            const BlockView view = view_of(block);
            places_.choose(view, lone_groups(view));
            auto verdicts = price_in_block(input_, view, here, options_);
            for (size_t i = 0; i < verdicts.size(); ++i) all[before + i].verdict = std::move(verdicts[i]);
        }
        return all;
    }

    Alternatives alternatives(const std::string& name) {
        const auto block = std::ranges::find(graph_.blocks, name, &Block::name);
        TESSERA_CHECK(block != graph_.blocks.end(), "{} is no block", name);
        const BlockView view = view_of(*block);
        BlockSchedule found = expected(kernels_of(view));
        cost::PricedBlock priced = priced_block(input_, *block, options_);
        Alternative planned{.kernels = {}, .seconds = found.schedule.seconds};
        for (const FoundKernel& kernel : found.kernels)
            planned.kernels.push_back(choose_leaves(view, kernel, priced));
        std::vector<Alternative>& best = found.alternatives.best;
        std::erase_if(best, [&](const Alternative& other) { return other.kernels == planned.kernels; });
        best.insert(best.begin(), std::move(planned));
        return std::move(found.alternatives);
    }

private:
    BlockView view_of(const Block& block) {
        std::optional<BlockView> view(places_.choose_alone(block));
        for (const Node& node : block.nodes)
            if (computes_a_view_for(node, *view)) view.emplace(places_.choose_alone(block));
        for (const Group& group : lone_groups(*view)) {
            const Node& node = *group.nodes.front();
            if (const auto why = why_no_strides(block, {{}, {plain(node)}}))
                throw Error(node.name, why->where == node.name ? why->entity : why->where, why->problem,
                            why->advice);
        }
        return std::move(*view);
    }

    /// The views that the operator reads, such as heads side by side, may leave its fastest micro-kernel
    /// without strides: one is computed if that takes less time than the next micro-kernel loses.
    /// @return whether one is
    bool computes_a_view_for(const Node& node, const BlockView& view) {
        std::vector<const Node*> views;
        for (const ValueId operand : node.operands)
            if (const Node* made = input_.producers[static_cast<size_t>(operand.index)];
                made && view.is_view(*made))
                views.push_back(made);
        if (views.empty() || view.is_view(node)) return false;
        const Block& block = view.block();
        const auto seconds = [](cost::PricedBlock& priced, const plan::Leaf& leaf) {
            return priced.evaluator({{}, {leaf}}, priced.is_tile).seconds;
        };
        const auto lowers = [&](const plan::Leaf& leaf) { return !why_no_strides(block, {{}, {leaf}}); };
        cost::PricedBlock priced = priced_block(input_, block, options_);
        const std::vector<plan::Leaf> ranked = ranked_leaves(priced, graph_, node, out_, options_);
        const auto first = std::ranges::find_if(ranked, lowers);
        if (first == ranked.begin() || first == ranked.end()) return false;
        const double most = seconds(priced, *first);
        for (const Node* made : views) {
            places_.compute(*made, true);
            (void)places_.choose_alone(block);
            if (lowers(ranked.front())) {
                cost::PricedBlock with_it = priced_block(input_, block, options_);
                const plan::Leaf leaf = ranked_leaves(with_it, graph_, *made, out_, options_).front();
                if (seconds(with_it, ranked.front()) + seconds(with_it, leaf) < most) return true;
            }
            places_.compute(*made, false);
            (void)places_.choose_alone(block);
        }
        return false;
    }

    static BlockSchedule expected(BlockSchedule found) {
        if (found.refusal) throw found.refusal->error();
        return found;
    }

    /// Chooses places. The operators of a kernel that keeps the carried value from staying in its place stay
    /// alone, and the block is searched again.
    BlockSchedule kernels_of(const BlockView& view) {
        const std::vector<Group> lone = lone_groups(view);
        std::set<const Node*> alone;
        for (const Node& node : view.block().nodes)
            if (lowering::is_lone(*node.definition())) alone.insert(&node);
        while (true) {
            places_.choose(view, lone);
            BlockSchedule found = search_block(input_, view, alone, options_, known_);
            if (found.refusal) return found;
            const std::vector<Group> groups = found.groups();
            places_.choose(view, groups);
            if (const auto group = places_.group_in_the_way(view, groups)) {
                const std::vector<const Node*>& nodes = groups[static_cast<size_t>(*group)].nodes;
                if (found.kernels[static_cast<size_t>(*group)].is_stated) {
                    found.refusal = {"stated kernels", nodes.back()->name,
                                     "keeps the value that the block carries from staying in its place",
                                     "state it without the operators that read that value"};
                    return found;
                }
                alone.insert(nodes.begin(), nodes.end());
                continue;
            }
            if (lower_in_place(view.block(), found, alone)) return found;
        }
    }

    /// Results that take over other values may not be made in tiles. An operator that is a kernel of its own
    /// then has no loops; others stay alone from now on. @return whether all kernels lower, or a stated one
    /// is refused
    bool lower_in_place(const Block& block, BlockSchedule& found, std::set<const Node*>& alone) const {
        bool all = true;
        for (FoundKernel& kernel : found.kernels) {
            const std::optional<lowering::Refusal> why = why_no_strides(block, kernel.nest);
            if (!why) continue;
            if (kernel.is_stated) {
                found.refusal = why;
                return true;
            }
            const std::vector<const Node*>& nodes = kernel.group.nodes;
            if (nodes.size() == 1) {
                kernel.nest = {{}, {plain(*nodes.front())}};
            } else {
                alone.insert(nodes.begin(), nodes.end());
                all = false;
            }
        }
        return all;
    }

    std::optional<lowering::Refusal> why_no_strides(const Block& block, const plan::Nest& nest) const {
        return lowering::why_no_strides(input_, block, {block.name, nest});
    }

    static plan::Leaf plain(const Node& node) { return {node.name, kernels::plain_micro_kernel()}; }

    /// An operator that is a kernel of its own also has the leaf that suits all points, without loops: the
    /// search looks at leaves that compute fastest, whatever they wait for.
    plan::Nest choose_leaves(const BlockView& view, const FoundKernel& kernel, cost::PricedBlock& priced) {
        plan::Nest nest = kernel.nest;
        if (kernel.is_stated) return nest;
        const Block& block = view.block();
        const bool is_lone = kernel.group.nodes.size() == 1;
        cost::Evaluation cost = priced.evaluator(nest, priced.is_tile);
        if (!is_lone || !nest.loops.empty()) choose_registers(block, priced, nest, nest, cost);
        if (is_lone) {
            plan::Nest lone = without_loops(block, *kernel.group.nodes.front(), priced);
            cost::Evaluation of_lone = priced.evaluator(lone, priced.is_tile);
            if (std::get<plan::Leaf>(lone.items.front()).kernel->is_plain)
                choose_registers(block, priced, lone, lone, of_lone);
            if (nest.loops.empty() || of_lone.seconds <= cost.seconds) nest = std::move(lone);
        }
        if (const auto why = why_no_strides(block, nest)) throw why->error();
        return nest;
    }

    plan::Nest without_loops(const Block& block, const Node& node, cost::PricedBlock& priced) const {
        plan::Nest nest{{}, {plain(node)}};
        for (plan::Leaf& candidate : ranked_leaves(priced, graph_, node, out_, options_)) {
            nest.items.front() = std::move(candidate);
            if (!why_no_strides(block, nest)) break;
        }
        return nest;
    }

    /// Gives folds and products the registers that take least time, one leaf after the other.
    void choose_registers(const Block& block, cost::PricedBlock& priced, plan::Nest& whole, plan::Nest& part,
                          cost::Evaluation& cost) const {
        if (!cost.why_infinite.empty()) return;
        for (auto& child : part.items) {
            if (auto* inner = std::get_if<plan::Nest>(&child)) {
                choose_registers(block, priced, whole, *inner, cost);
                continue;
            }
            plan::Leaf& leaf = std::get<plan::Leaf>(child);
            const Node& node = block.node(leaf.node);
            plan::Leaf best = leaf;
            const bool is_product = !leaf.kernel->is_plain;
            for (plan::Leaf& other : leaf_alternatives(node, best, out_, options_)) {
                leaf = std::move(other);
                cost::Evaluation of_other = priced.evaluator(whole, priced.is_tile);
                if (!is_faster(of_other, cost, is_product ? kAlike : 1) || why_no_strides(block, whole))
                    continue;
                cost = std::move(of_other);
                best = leaf;
            }
            leaf = std::move(best);
        }
    }

    const Graph& graph_;
    plan::Plan plan_;
    const plan::ConstantSection constants_;
    plan::SpecialisationPlan& out_;  ///< of plan_
    const PlannerOptions& options_;
    schedule::KnownKernels& known_;
    lowering::LoweringInput input_;
    Places places_;
};

/// Calls `search` for all specialisations of the plan at the same time. @return what it finds, in their order
template <typename Search>
auto of_specialisations(const Graph& graph, const plan::Plan& plan, const PlannerOptions& options,
                        const Search& search) {
    TESSERA_CHECK(options.costs);
    std::map<std::string, schedule::KnownKernels> unshared;
    std::map<std::string, schedule::KnownKernels>& known = options.known ? *options.known : unshared;
    for (const plan::SpecialisationPlan& specialisation : plan.specialisations) known[specialisation.name];
    std::vector<std::optional<std::invoke_result_t<Search, SpecialisationPlanner&>>> found(
        plan.specialisations.size());
    run_at_once(found.size(), [&](size_t turn) {
        const size_t at = found.size() - 1 - turn;  // the last has the widest bounds and takes longest
        SpecialisationPlanner planner(graph, plan, at, options, known.at(plan.specialisations[at].name));
        found[at] = search(planner);
    });
    return found;
}

}  // namespace

plan::Plan initial_plan(const Graph& graph, const PlannerOptions& options) {
    plan::Plan plan;
    plan.graph = graph.name;
    plan.machine = options.machine;
    plan.workers = options.workers;
    for (const Block& block : graph.blocks) {
        for (const Node& node : block.nodes) choose_stored_layout(graph, node, options, plan);
    }
    plan.specialisations = specialisations(graph);
    return plan;
}

CompletedPlan completed_plan(const Graph& graph, plan::Plan plan, const PlannerOptions& options) {
    auto all = of_specialisations(graph, plan, options,
                                  [](SpecialisationPlanner& planner) { return planner.run(); });
    for (size_t at = 0; at < all.size(); ++at) {
        SearchedSpecialisation& searched = *all[at];
        if (options.on_schedule)
            for (const auto& [block, schedule] : searched.schedules)
                options.on_schedule(plan.specialisations[at].name, block, schedule);
        if (searched.refusal) return *std::move(searched.refusal);
        plan.specialisations[at] = std::move(searched.plan);
    }
    return lowered_and_placed(graph, std::move(plan));
}

plan::Plan complete_plan(const Graph& graph, plan::Plan plan, const PlannerOptions& options) {
    return expected(completed_plan(graph, std::move(plan), options)).plan;
}

LoweredPlan expected(CompletedPlan completed) {
    if (const auto* refusal = std::get_if<lowering::Refusal>(&completed)) throw refusal->error();
    return std::get<LoweredPlan>(std::move(completed));
}

Alternatives alternatives(const Graph& graph, const plan::Plan& plan, const std::string& block,
                          const PlannerOptions& options) {
    auto all = of_specialisations(
        graph, plan, options, [&](SpecialisationPlanner& planner) { return planner.alternatives(block); });
    return *std::move(all.front());
}

std::vector<StatedVerdict> price_stated(const Graph& graph, const plan::Plan& plan,
                                        const std::vector<plan::StatedKernel>& kernels,
                                        const PlannerOptions& options) {
    std::vector<StatedVerdict> all;
    for (auto& here : of_specialisations(
             graph, plan, options, [&](SpecialisationPlanner& planner) { return planner.prices(kernels); }))
        std::ranges::move(*here, std::back_inserter(all));
    return all;
}

std::set<const Node*> fused_operators(const Graph& graph, const plan::Plan& plan,
                                      const PlannerOptions& options) {
    PlannerOptions less = options;
    less.nests /= kLessForLayouts;
    std::set<const Node*> fused;
    const auto all = of_specialisations(graph, plan, less,
                                        [](SpecialisationPlanner& planner) { return planner.groups(); });
    for (const auto& groups : all)
        for (const Group& group : *groups)
            for (const Node* node : group.nodes)
                if (group.nodes.size() > 1 && !multiplies_weights(graph, *node)) fused.insert(node);
    return fused;
}

plan::Plan default_plan(const Graph& graph, const PlannerOptions& options) {
    return complete_plan(graph, initial_plan(graph, options), options);
}

}  // namespace tessera::planner
