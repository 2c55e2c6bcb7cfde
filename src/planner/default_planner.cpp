// Each decision is kept if its kernel lowers, so that there is no second list of legal combinations.
#include "planner/default_planner.h"

#include <algorithm>
#include <limits>

#include "ir/iterator_use.h"
#include "kernels/contraction.h"
#include "kernels/micro_kernels.h"
#include "kernels/parameters.h"
#include "lowering/lower.h"
#include "planner/block_search.h"
#include "planner/divide_work.h"
#include "planner/grouping.h"
#include "planner/leaf_alternatives.h"
#include "planner/leaf_choice.h"
#include "planner/nest_cost.h"
#include "planner/place_buffers.h"
#include "planner/places.h"
#include "planner/priced.h"
#include "planner/ranked_leaves.h"
#include "planner/row_nests.h"
#include "planner/specialisations.h"
#include "planner/stored_layout.h"
#include "support/error.h"

namespace tessera::planner {
namespace {

/// Rows of queries that share a tile of the cache: enough for register blocks, few enough for the nearest
/// cache.
constexpr int64_t kTileRows = 48;

constexpr double kWorthwhile = 1.02;  ///< larger tiles must save more than estimates are wrong by

/// With another block of a product a nest that takes so much of the time takes as long: measurements differ.
constexpr double kAlike = 0.99;

class SpecialisationPlanner {
public:
    SpecialisationPlanner(const Graph& graph, const plan::Plan& plan,
                          plan::SpecialisationPlan& specialisation, const PlannerOptions& options)
        : graph_(graph),
          constants_(plan::constant_section(graph, plan)),
          out_(specialisation),
          options_(options),
          input_(lowering::lowering_input(graph, plan, specialisation, constants_)),
          places_(input_, specialisation) {}

    void run() {
        for (const Block& block : graph_.blocks) options_.structures > 0 ? search(block) : plan_block(block);
        divide_work(input_, out_, options_);
    }

private:
    /// A group whose operators lower in no nest is taken apart, and the block is planned again.
    void plan_block(const Block& block) {
        const std::set<const Node*> copies = places_.copies(block);
        for (const Node* copy : copies) places_.copy(*copy);
        const BlockView view(graph_, block, copies, places_.packed_values());
        std::vector<Group> groups = group_nodes(view);
        for (bool is_done = false; !is_done;) {
            places_.choose(view, groups);
            if (const auto group = places_.group_in_the_way(view, groups)) {
                groups = taken_apart(groups, *group, block);
                continue;
            }
            if (const Node* copied = places_.view_in_the_way(view)) {
                places_.copy(*copied);
                groups.push_back({{copied}, nullptr, nullptr});
                in_order_of_execution(groups, block);
                continue;
            }
            std::vector<plan::KernelPlan> kernels;
            is_done = true;
            for (auto group = groups.begin(); group != groups.end() && is_done; ++group) {
                if (std::optional<plan::Nest> nest = choose_nest(view, *group)) {
                    kernels.push_back({block.name, std::move(*nest)});
                } else {
                    groups = taken_apart(groups, group - groups.begin(), block);
                    is_done = false;
                }
            }
            if (is_done) out_.kernels.insert(out_.kernels.end(), kernels.begin(), kernels.end());
        }
    }

    /// Kernels by search. Operators in the way of the carried value stay alone.
    void search(const Block& block) {
        const std::set<const Node*> copies = places_.copies(block);
        for (const Node* copy : copies) places_.copy(*copy);
        const BlockView view(graph_, block, copies, places_.packed_values());
        std::vector<Group> lone = lone_groups(view);
        places_.choose(view, lone);
        while (const Node* copied = places_.view_in_the_way(view)) {
            places_.copy(*copied);
            lone.push_back({{copied}, nullptr, nullptr});
            in_order_of_execution(lone, block);
            places_.choose(view, lone);
        }
        for (std::set<const Node*> alone;;) {
            places_.choose(view, lone);
            const BlockSchedule found = search_block(input_, view, alone, options_);
            const std::vector<Group> groups = found.groups();
            places_.choose(view, groups);
            if (const auto group = places_.group_in_the_way(view, groups)) {
                for (const Node* node : groups[static_cast<size_t>(*group)].nodes) alone.insert(node);
                continue;
            }
            if (options_.on_schedule) options_.on_schedule(out_.name, block.name, found.schedule);
            for (const FoundKernel& kernel : found.kernels)
                out_.kernels.push_back({block.name, with_leaves(view, kernel)});
            return;
        }
    }

    /// An operator without loops takes the leaf that suits all points; in others the search has found leaves.
    plan::Nest with_leaves(const BlockView& view, const FoundKernel& kernel) {
        plan::Nest nest = kernel.nest;
        if (kernel.group.nodes.size() == 1 && nest.loops.empty()) {
            nest = lone_nest(view.block(), *kernel.group.nodes.front());
            if (!plan::root(nest).kernel->is_plain) return nest;
        }
        if (auto cost = cost_of(view.block(), nest)) choose_registers(view.block(), nest, nest, *cost);
        return nest;
    }

    bool lowers(const Block& block, const plan::Nest& nest) const {
        try {
            (void)lowering::lower_kernel(input_, block, {block.name, nest});
            return true;
        } catch (const Error&) {
            return false;
        }
    }

    /// Tries the candidates of one leaf after the other, the others staying as they are.
    bool improve(const Block& block, plan::Nest& whole, plan::Nest& part) {
        bool all = true;
        for (auto& child : part.children) {
            if (auto* inner = std::get_if<plan::Nest>(&child)) {
                all = improve(block, whole, *inner) && all;
                continue;
            }
            plan::Leaf& leaf = std::get<plan::Leaf>(child);
            const Node& node = block.node(leaf.node);
            const plan::Leaf before = leaf;
            bool found = false;
            for (plan::Leaf& candidate : leaf_candidates(node, out_, options_)) {
                leaf = std::move(candidate);
                if ((found = lowers(block, whole))) break;
            }
            if (!found) leaf = before;
            all = all && found;
        }
        return all;
    }

    static plan::Leaf plain(const Node& node) { return {node.name, kernels::plain_micro_kernel()}; }

    /// The first of an operator's ranked leaves that lowers.
    plan::Nest lone_nest(const Block& block, const Node& node) {
        plan::Nest nest{{}, {plain(node)}};
        auto& leaf = std::get<plan::Leaf>(nest.children.front());
        for (plan::Leaf& candidate : ranked_leaves(graph_, input_.plan, node, out_, options_)) {
            leaf = std::move(candidate);
            if (lowers(block, nest)) break;
        }
        return nest;
    }

    /// Nothing if the group has several operators and no nest of them lowers.
    std::optional<plan::Nest> choose_nest(const BlockView& view, const Group& group) {
        if (group.softmax && group.scores) {
            if (auto nest = softmax_nest(view, group)) {
                if (auto cost = cost_of(view.block(), *nest))
                    choose_registers(view.block(), *nest, *nest, *cost);
                return nest;
            }
        }
        if (group.nodes.size() > 1) return row_nest(view, group);
        const Node& node = *group.nodes.front();
        plan::Nest nest = lone_nest(view.block(), node);
        const auto& leaf = std::get<plan::Leaf>(nest.children.front());
        if (auto cost = cost_of(view.block(), nest); cost && leaf.kernel->is_plain)
            choose_registers(view.block(), nest, nest, *cost);
        block_weights(node, nest);
        if (!lowers(view.block(), nest))
            (void)lowering::lower_kernel(input_, view.block(), {view.block().name, nest});  // says why
        return nest;
    }

    /// Cost of a nest that lowers; nothing if there are no costs for the machine.
    std::optional<NestCost> cost_of(const Block& block, const plan::Nest& nest) const {
        if (!options_.costs) return std::nullopt;
        return nest_cost(input_, block, nest, options_);
    }

    /// t:1 h:16 { r; h:1 { normed; y } }: among the nests about as fast as the fastest, one without split
    /// loops, and then the one that touches least inside its loops: an operator finds in the innermost cache
    /// the data that the previous one left there. A split loop needs so many addresses that compilers spill
    /// vectors of the inner loops (GCC 12: a third slower).
    std::optional<plan::Nest> row_nest(const BlockView& view, const Group& group) {
        struct Candidate {
            plan::Nest nest;
            NestCost cost;
        };
        std::vector<Candidate> found;
        double least = std::numeric_limits<double>::infinity();
        for (plan::Nest& nest : row_nests(group.nodes, shared_iterators(group, view), out_)) {
            if (!improve(view.block(), nest, nest)) {
                if (found.empty()) return std::nullopt;
                continue;
            }
            std::optional<NestCost> cost = cost_of(view.block(), nest);
            if (!cost && found.empty()) return nest;
            if (!cost) continue;
            if (!found.empty() && cost->tile_bytes > options_.costs->capacity(0, options_.workers)) continue;
            choose_registers(view.block(), nest, nest, *cost);
            least = std::min(least, cost->seconds);
            found.push_back({std::move(nest), *cost});
        }
        Candidate* best = nullptr;
        for (Candidate& each : found) {
            if (each.cost.seconds > kWorthwhile * least) continue;
            const auto rank = [&](const Candidate& c) {
                return std::pair(has_split_loop(group, c.nest), c.cost.tile_bytes);
            };
            if (!best || rank(each) < rank(*best)) best = &each;
        }
        return std::move(best->nest);
    }

    bool has_split_loop(const Group& group, const plan::Nest& nest) const {
        const Definition& root = *group.nodes.back()->definition();
        return std::any_of(nest.loops.begin(), nest.loops.end(), [&](const plan::LoopTile& loop) {
            return loop.tile > 1 &&
                   loop.tile < kernels::largest_extent(root, root.iterator(loop.iterator), out_);
        });
    }

    /// Folds and products with the registers that take least time, one leaf after the other.
    void choose_registers(const Block& block, plan::Nest& whole, plan::Nest& part, NestCost& cost) const {
        for (auto& child : part.children) {
            if (auto* inner = std::get_if<plan::Nest>(&child)) {
                choose_registers(block, whole, *inner, cost);
                continue;
            }
            plan::Leaf& leaf = std::get<plan::Leaf>(child);
            const Node& node = block.node(leaf.node);
            plan::Leaf best = leaf;
            const bool is_product = !leaf.kernel->is_plain;
            for (plan::Leaf& other : leaf_alternatives(node, best, out_, options_)) {
                leaf = std::move(other);
                if (!lowers(block, whole)) continue;
                const std::optional<NestCost> of_other = cost_of(block, whole);
                if (!of_other || of_other->seconds >= (is_product ? kAlike : 1) * cost.seconds) continue;
                cost = *of_other;
                best = leaf;
            }
            leaf = std::move(best);
        }
    }

    /// A product whose rows are widened in parts reads its weights a tile at a time that stays in a cache, as
    /// large as possible: for each tile all rows are widened again. A matrix unit multiplies faster than the
    /// outer levels of memory deliver weights and rows: it takes both in tiles that stay in the core's own
    /// cache.
    void block_weights(const Node& node, plan::Nest& nest) const {
        plan::Leaf& leaf = std::get<plan::Leaf>(nest.children.front());
        const bool has_tiles = leaf.kernel->weight_tile == plan::WeightTile::kInOwnCache;
        if (leaf.kernel->weight_tile == plan::WeightTile::kNone ||
            !leaf.is_given(kernels::parameter::kRowsOfA) ||
            (leaf.number(kernels::parameter::kRows) == 1 && !has_tiles))
            return;
        const Definition& d = *node.definition();
        const int m = plan::iterator_of(d, leaf, kernels::parameter::kRowsOfA),
                  n = plan::iterator_of(d, leaf, kernels::parameter::kColumns),
                  k = plan::iterator_of(d, leaf, kernels::parameter::kReduction);
        const auto extent = [&](int x) { return kernels::largest_extent(d, x, out_); };
        const auto loop = [&](int x, int64_t tile) {
            nest.loops.push_back({d.iterators[static_cast<size_t>(x)].name, tile});
        };
        const int64_t step =
            leaf.number(kernels::parameter::kLanes) * leaf.number(kernels::parameter::kGroups);
        const int64_t row_bits = extent(k) * kernels::bits_per_step(d, k);
        const int64_t tile_bytes = has_tiles ? options_.resident_bytes : options_.cached_bytes;
        const int64_t fits = tile_bytes * 8 / row_bits / step * step;
        if (fits >= step && fits < extent(n)) loop(n, fits);
        if (!has_tiles) return;
        const int64_t rows =
            leaf.number(kernels::parameter::kRowsOfTile) * leaf.number(kernels::parameter::kTilesOfA);
        const int64_t rows_that_fit = options_.resident_bytes * 8 / 2 / row_bits / rows * rows;
        if (rows_that_fit >= rows && rows_that_fit < extent(m)) loop(m, rows_that_fit);
    }

    /// b:1 g:1 r:2 i:4 { gather; s:16 { scores; attend }; normalise }
    std::optional<plan::Nest> softmax_nest(const BlockView& view, const Group& group) {
        const Node& root = *group.nodes.back();
        const Definition& attend = *group.softmax->definition();
        const std::vector<int> shared = shared_iterators(group, view);
        const auto once = attend.tensors[static_cast<size_t>(attend.results()[0])].map.size();
        // Rows of one tile share the values that they read: the iterator of A on whose axis the value does
        // not depend.
        const auto& weighted = attend.tensors[static_cast<size_t>(attend.results()[2])].map;
        const auto* value = std::get_if<Read>(&attend.body[1]->node);
        std::vector<plan::LoopTile> loops;
        int64_t rows = 1;
        for (const int x : shared) {
            if (loops.size() == once) break;
            bool is_row = false;
            for (size_t axis = 0; axis < weighted.size() && value; ++axis) {
                const auto* mine = std::get_if<IteratorRef>(&weighted[axis]->node);
                if (!mine || !reads_axis(group, x, axis)) continue;
                is_row = !uses(value->coordinates, mine->index);
            }
            const int64_t tile =
                is_row ? std::min(kernels::largest_extent(*root.definition(), x, out_), kTileRows / rows) : 1;
            rows *= tile;
            loops.push_back({root.definition()->iterators[static_cast<size_t>(x)].name, tile});
        }
        int s = -1;
        for (int x = 0; x < static_cast<int>(attend.iterators.size()); ++x) {
            if (attend.iterators[static_cast<size_t>(x)].is_reduction) s = x;
        }
        for (int64_t tile = 64; tile >= 1; tile /= 2) {
            plan::Nest inner{{{attend.iterators[static_cast<size_t>(s)].name, tile}}, {}};
            plan::Nest nest{loops, {}};
            for (const Node* node : group.nodes) {
                if (node == group.scores || node == group.softmax) {
                    inner.children.emplace_back(node == group.softmax
                                                    ? leaf_candidates(*node, out_, options_).front()
                                                    : plain(*node));
                    if (node == group.softmax) nest.children.emplace_back(inner);
                } else {
                    nest.children.emplace_back(plain(*node));
                }
            }
            if (choose_softmax_leaves(view, group, nest)) return nest;
        }
        return std::nullopt;
    }

    /// The first stream kernel under which everything else finds a kernel too; a contraction for the scores
    /// if the tile is larger than one position.
    bool choose_softmax_leaves(const BlockView& view, const Group& group, plan::Nest& nest) {
        const auto inner = std::find_if(nest.children.begin(), nest.children.end(),
                                        [](const auto& c) { return std::holds_alternative<plan::Nest>(c); });
        auto& children = std::get<plan::Nest>(*inner).children;
        for (plan::Leaf& candidate : leaf_candidates(*group.softmax, out_, options_)) {
            if (candidate.kernel->is_plain) break;
            children.back() = std::move(candidate);
            plan::Nest attempt = nest;
            if (!lowers(view.block(), attempt)) continue;
            improve(view.block(), attempt, attempt);
            const auto at = static_cast<size_t>(inner - nest.children.begin());
            const plan::Leaf& scores =
                std::get<plan::Leaf>(std::get<plan::Nest>(attempt.children[at]).children.front());
            const bool is_last = std::get<plan::Nest>(attempt.children[at]).loops.front().tile == 1;
            if (scores.kernel->is_plain && !is_last) return false;
            nest = std::move(attempt);
            return true;
        }
        return false;
    }

    const Graph& graph_;
    const plan::ConstantSection constants_;
    plan::SpecialisationPlan& out_;
    const PlannerOptions& options_;
    lowering::LoweringInput input_;
    Places places_;
};

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

plan::Plan complete_plan(const Graph& graph, plan::Plan plan, const PlannerOptions& options) {
    const PlannerOptions with_costs = priced(options);
    for (plan::SpecialisationPlan& specialisation : plan.specialisations)
        SpecialisationPlanner(graph, plan, specialisation, with_costs).run();
    return place_buffers(graph, std::move(plan));
}

plan::Plan default_plan(const Graph& graph, const PlannerOptions& options) {
    return complete_plan(graph, initial_plan(graph, options), options);
}

}  // namespace tessera::planner
