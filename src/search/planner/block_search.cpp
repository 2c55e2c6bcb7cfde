#include "search/planner/block_search.h"

#include <algorithm>

#include "ir/ops/exchange.h"
#include "lowering/kernels/micro_kernels.h"
#include "lowering/lower.h"
#include "lowering/numbered_nest.h"
#include "search/planner/leaf_choice.h"
#include "search/planner/priced.h"
#include "search/planner/stated.h"
#include "search/schedule/alternatives.h"
#include "search/schedule/sample.h"
#include "support/error.h"

namespace tessera::planner {
namespace {

using lowering::NumberedNest;

/// Operators of a block that is searched with the usual number of nests.
constexpr int64_t kSmall = 50;

/// Operators that may be priced for each nest, about what those of models take, and for a search of few
/// nests. Large kernels take more.
constexpr int64_t kPricedOfNest = 1000;
constexpr int64_t kLeastPriced = 500'000;

/// The specialisation with every result of an operator at a place of its own: which of them take over others
/// depends on the kernels, which are still to be found.
plan::SpecialisationPlan without_replacement(const plan::SpecialisationPlan& specialisation,
                                             const Block& block, const Graph& graph) {
    plan::SpecialisationPlan plain = specialisation;
    for (const Node& node : block.nodes) {
        if (node.previous) continue;
        for (const ValueId result : node.results) {
            const auto at = plain.tensors.find(graph[result].name);
            if (at != plain.tensors.end() && at->second.place == plan::Place::kInPlace) at->second = {};
        }
    }
    return plain;
}

class BlockSearch {
public:
    BlockSearch(const lowering::LoweringInput& input, const BlockView& view,
                const std::set<const Node*>& alone, const PlannerOptions& options,
                schedule::KnownKernels& known)
        : view_(view),
          options_(options),
          plain_(without_replacement(input.specialisation, view.block(), input.graph)),
          input_(lowering::lowering_input(input.graph, input.plan, plain_, input.constants)),
          links_(lowering::block_links(input_, view.block())),
          evaluator_(input_, links_, cost::sizes_of(input.graph, input.plan, plain_), *options.costs,
                     level_of_constants(options), options.published),
          context_{links_, evaluator_, {}, {}, {}, {}, {}} {
        context_.why_not_lowered = [this](const auto& nest, const auto& leaves, const auto& is_tile) {
            return why_not_lowered(nest, leaves, is_tile);
        };
        const lowering::Storage apart(input_, view.block()), in_place(input, view.block());
        for (const lowering::BlockLinks::Operator& op : links_.operators) {
            const Node& node = *op.node;
            const int at = static_cast<int>(context_.leaves.size());
            std::vector<int> leaves;
            for (const plan::Leaf& leaf : leaf_candidates(node, plain_, options))
                leaves.push_back(evaluator_.number_of(at, leaf));
            context_.plain_leaves.push_back(
                evaluator_.number_of(at, {node.name, kernels::plain_micro_kernel()}));
            context_.leaves.push_back(std::move(leaves));
            std::vector<int> readers;
            std::vector<int> followers = updates_behind(node, apart);
            context_.is_last.push_back(!followers.empty() || ops::is_exchange(*node.definition()));
            for (const int replacing : replacements_behind(node, in_place)) {
                context_.apart.emplace(links_.find(node.name), replacing);
                followers.push_back(replacing);
            }
            context_.followers.push_back(std::move(followers));
            context_.is_alone.push_back(alone.contains(&node));
            bool is_whole = node.previous.has_value();
            for (const ValueId result : node.results) {
                is_whole = is_whole || view.escapes(result);
                for (const Node* reader : view.readers(result)) {
                    const int number = reader ? links_.find(reader->name) : -1;
                    if (number >= 0) readers.push_back(number);
                    is_whole = is_whole || !reader;
                }
            }
            std::ranges::sort(readers);
            readers.erase(std::unique(readers.begin(), readers.end()), readers.end());
            context_.readers.push_back(std::move(readers));
            context_.is_whole.push_back(is_whole);
            std::vector<bool> is_constant;
            for (const Iterator& iterator : node.definition()->iterators)
                is_constant.push_back(std::holds_alternative<Number>(iterator.extent->node));
            context_.is_constant.push_back(std::move(is_constant));
        }
        refusal_ = fix_stated(options.stated, input.specialisation.name, context_);
        context_.limits = options.limits;
        context_.space = options.space;
        context_.known = &known;
        context_.kinds = schedule::operator_kinds(input_, context_, known);
    }

    BlockSchedule run() {
        schedule::SearchOptions search;
        const auto operators = static_cast<int64_t>(links_.operators.size());
        search.nests = options_.nests * std::max<int64_t>(1, (operators + kSmall - 1) / kSmall);
        search.priced = std::max(options_.nests * kPricedOfNest, kLeastPriced);
        search.region = options_.region;
        search.grows = options_.grows;
        search.proof = options_.proves ? options_.nests : 0;
        search.kept = options_.alternatives;
        BlockSchedule found;
        found.refusal = refusal_;
        if (refusal_) return found;
        do found.schedule = schedule::search(context_, search);
        while (!do_lower(found.schedule));
        found.schedule.lowered = lowered_;
        for (const schedule::SolvedKernel& kernel : found.schedule.kernels) {
            FoundKernel each{{}, nest_of(kernel)};
            each.is_stated = std::ranges::any_of(context_.stated, [&](const NumberedNest& stated) {
                return stated.root() == kernel.nest.root();
            });
            for (const int op : kernel.nest.operators())
                each.group.nodes.push_back(links_.operators[static_cast<size_t>(op)].node);
            found.kernels.push_back(std::move(each));
        }
        found.alternatives.best =
            nests_of(schedule::alternatives(context_, found.schedule, search, options_.alternatives));
        found.alternatives.samples = nests_of(schedule::samples(context_, options_.samples, options_.seed));
        return found;
    }

    /// The price of a nest by itself. The search learns nothing from it.
    std::variant<StatedPrice, StatedRefusal> price(const plan::StatedKernel& kernel) {
        schedule::BlockContext alone = context_;
        auto verdict = solve_stated({&kernel, 1}, plain_.name, alone);
        if (auto* refusal = std::get_if<StatedRefusal>(&verdict)) {
            if (refusal->kind == StatedRefusal::Kind::kLowering) explain(kernel, alone, refusal->why);
            return std::move(*refusal);
        }
        const auto& solved = std::get<std::vector<schedule::SolvedKernel>>(verdict);
        if (solved.empty())
            return StatedRefusal{StatedRefusal::Kind::kForm,
                                 {kernel.where,
                                  kernel.nest.root().node,
                                  "is a view of its operand, which nothing computes",
                                  {}}};
        const schedule::SolvedKernel& best = solved.front();
        const std::vector<bool> is_tile = schedule::tiles_of(context_, best.nest);
        return StatedPrice{
            .nest = nest_of(best),
            .cost = best.cost,
            .buffers = evaluator_.buffers(lowering::tiled_kernel(links_, best.nest, is_tile), is_tile),
            .barrier_seconds = evaluator_.barrier_seconds()};
    }

private:
    /// Later operators of the block that update what the operator reads; behind an exchange, the next one,
    /// since all ranks take them in one order.
    std::vector<int> updates_behind(const Node& node, const lowering::Storage& storage) const {
        const Block& block = view_.block();
        bool is_before_exchange = ops::is_exchange(*node.definition());
        std::vector<int> found;
        for (const Node* later = &node + 1; later != block.nodes.data() + block.nodes.size(); ++later) {
            const bool is_next = is_before_exchange && ops::is_exchange(*later->definition());
            is_before_exchange = is_before_exchange && !is_next;
            if (is_next || (later->previous && reads(node, storage, storage.base(*later->previous))))
                found.push_back(links_.find(later->name));
        }
        return found;
    }

    /// Later operators whose results take the place of the value that the block carries, of which the
    /// operator reads what lies there before.
    /// @param storage where each operator is a kernel of its own
    std::vector<int> replacements_behind(const Node& node, const lowering::Storage& storage) const {
        const Block& block = view_.block();
        if (block.repeat == 1 || !block.carried_in || !block.carried_out) return {};
        const ValueId carried = storage.base(*block.carried_in);
        std::vector<int> found;
        if (!reads(node, storage, carried)) return found;
        for (const Node* later = &node + 1; later != block.nodes.data() + block.nodes.size(); ++later)
            if (storage.plan_of(later->results.front()).place == plan::Place::kInPlace &&
                storage.base(later->results.front()) == carried)
                found.push_back(links_.find(later->name));
        return found;
    }

    static bool reads(const Node& node, const lowering::Storage& storage, ValueId base) {
        return std::ranges::any_of(node.operands,
                                   [&](ValueId operand) { return storage.base(operand) == base; });
    }

    plan::Nest nest_of(const NumberedNest& nest, const std::vector<int>& leaves) const {
        size_t at = 0;
        return lowering::named(links_, nest, [&](int) { return evaluator_.leaf(leaves[at++]); });
    }

    plan::Nest nest_of(const schedule::SolvedKernel& kernel) const {
        return nest_of(kernel.nest, kernel.leaves);
    }

    std::vector<Alternative> nests_of(const std::vector<schedule::Alternative>& all) const {
        std::vector<Alternative> nests;
        for (const schedule::Alternative& each : all) {
            Alternative& alternative = nests.emplace_back();
            alternative.seconds = each.seconds;
            for (const schedule::SolvedKernel& kernel : each.kernels)
                alternative.kernels.push_back(nest_of(kernel));
        }
        return nests;
    }

    /// True if all kernels lower; notes those that do not. The search does not ask for each.
    bool do_lower(const schedule::Schedule& schedule) {
        bool all = true;
        for (const schedule::SolvedKernel& kernel : schedule.kernels) {
            if (!why_not_lowered(kernel.nest, kernel.leaves, schedule::tiles_of(context_, kernel.nest)))
                continue;
            all = !context_.illegal.insert(schedule::text(context_, kernel.nest)).second && all;
        }
        return all;
    }

    std::optional<lowering::Refusal> why_not_lowered(const NumberedNest& nest, const std::vector<int>& leaves,
                                                     const std::vector<bool>& is_tile) {
        const PlacedTiles placed(*this, is_tile);
        ++lowered_;
        return lowering::why_no_strides(input_, view_.block(), {view_.block().name, nest_of(nest, leaves)});
    }

    /// Why a nest that leaves nothing open does not lower: in words of lowering, since there was no choice.
    void explain(const plan::StatedKernel& kernel, const schedule::BlockContext& stated,
                 lowering::Refusal& refusal) {
        const NumberedNest& nest = stated.stated.front();
        std::vector<int> leaves;
        for (const int op : nest.operators()) {
            if (stated.leaves[static_cast<size_t>(op)].size() > 1) return;
            leaves.push_back(stated.leaves[static_cast<size_t>(op)].front());
        }
        if (plan::print(kernel.nest).find('?') != std::string::npos) return;
        if (const auto why = why_not_lowered(nest, leaves, schedule::tiles_of(stated, nest)))
            refusal = {kernel.where, why->entity.empty() ? why->where : why->entity, why->problem,
                       why->advice};
    }

    /// Places the results of these operators in tiles while it lives.
    class PlacedTiles {
    public:
        PlacedTiles(BlockSearch& search, const std::vector<bool>& is_tile) : tensors_(search.plain_.tensors) {
            for (size_t op = 0; op < is_tile.size(); ++op) {
                if (!is_tile[op]) continue;
                for (const ValueId result : search.links_.operators[op].node->results) {
                    plan::TensorPlan& tensor = tensors_.at(search.input_.graph[result].name);
                    before_.emplace_back(&tensor, tensor);
                    tensor = {plan::Place::kTile, {}, {}, 0, tensor.layout};
                }
            }
        }
        PlacedTiles(const PlacedTiles&) = delete;
        PlacedTiles& operator=(const PlacedTiles&) = delete;
        ~PlacedTiles() {
            for (auto& [tensor, was] : before_) *tensor = std::move(was);
        }

    private:
        std::map<std::string, plan::TensorPlan>& tensors_;
        std::vector<std::pair<plan::TensorPlan*, plan::TensorPlan>> before_;
    };

    const BlockView& view_;
    const PlannerOptions& options_;
    plan::SpecialisationPlan plain_;
    const lowering::LoweringInput input_;
    const lowering::BlockLinks links_;
    cost::Evaluator evaluator_;
    schedule::BlockContext context_;
    std::optional<lowering::Refusal> refusal_;
    int64_t lowered_ = 0;
};

}  // namespace

BlockSchedule search_block(const lowering::LoweringInput& input, const BlockView& view,
                           const std::set<const Node*>& alone, const PlannerOptions& options,
                           schedule::KnownKernels& known) {
    return BlockSearch(input, view, alone, options, known).run();
}

std::vector<std::variant<StatedPrice, StatedRefusal>> price_in_block(
    const lowering::LoweringInput& input, const BlockView& view, std::span<const plan::StatedKernel> kernels,
    const PlannerOptions& options) {
    TESSERA_CHECK(options.stated.empty());
    schedule::KnownKernels known;
    BlockSearch block(input, view, {}, options, known);
    std::vector<std::variant<StatedPrice, StatedRefusal>> verdicts;
    for (const plan::StatedKernel& kernel : kernels) verdicts.push_back(block.price(kernel));
    return verdicts;
}

}  // namespace tessera::planner
