#pragma once

#include <algorithm>
#include <memory>
#include <string>

#include "cost/measured_machine.h"
#include "lowering/kernels/candidates.h"
#include "lowering/kernels/micro_kernels.h"
#include "lowering/lower.h"
#include "lowering/numbered_nest.h"
#include "lowering/plan/constants.h"
#include "search/schedule/block_context.h"
#include "support/error.h"

namespace tessera::schedule::testing {

/// A norm whose result two maps read.
inline const std::string kRows = R"(graph "rows"
symbol T in 1..64
point prompt weight 1: T = 64
input x: f32[T, 8192]
value r: f32[T]
value normed: f32[T, 8192]
value doubled: f32[T, 8192]
value y: f32[T, 8192]

block main
  node r(x) -> r
    op reduce(t: T, d*: 8192)
    dim T in 1..64
    in X f32[t, d]
    out R f32[t] = rsqrt(sum(X * X) + 1)
  node normed(x, r) -> normed
    op apply(t: T, d: 8192)
    dim T in 1..64
    in X f32[t, d]
    in R f32[t]
    out Y f32[t, d] = X * R
  node doubled(normed) -> doubled
    op double(t: T, d: 8192)
    dim T in 1..64
    in X f32[t, d]
    out Y f32[t, d] = X * 2
  node y(normed, doubled) -> y
    op add(t: T, d: 8192)
    dim T in 1..64
    in X f32[t, d]
    in Z f32[t, d]
    out Y f32[t, d] = X + Z

output y
)";

/// The only block of a graph on a machine with round rates, every value in the arena.
class Searched {
public:
    explicit Searched(const std::string& text, int64_t workers = 1)
        : graph_(parse_graph(text, "test")), model_(tessera::testing::measured_machine()) {
        verify(graph_, "test");
        plan_.graph = graph_.name;
        plan_.workers = workers;
        specialisation_.name = "all";
        for (const DimSymbol& symbol : graph_.symbols) specialisation_.bounds[symbol.name] = {1, symbol.high};
        for (const Node& node : block().nodes)
            for (const ValueId result : node.results) specialisation_.tensors[graph_[result].name] = {};
        constants_ = std::make_unique<plan::ConstantSection>(plan::constant_section(graph_, plan_));
        input_ = std::make_unique<lowering::LoweringInput>(
            lowering::lowering_input(graph_, plan_, specialisation_, *constants_));
        links_ = lowering::block_links(*input_, block());
        evaluator_ = std::make_unique<cost::Evaluator>(
            *input_, links_, cost::sizes_of(graph_, plan_, specialisation_), model_, size_t{3});
        context_ = std::make_unique<BlockContext>(BlockContext{links_, *evaluator_, {}, {}, {}, {}, {}});
        const kernels::KernelTarget target{.units = model_.machine().units};
        for (size_t op = 0; op < links_.operators.size(); ++op) {
            const Node& node = *links_.operators[op].node;
            std::vector<int> leaves, readers;
            for (const plan::Leaf& leaf :
                 kernels::candidates(kernels::micro_kernels(), node, specialisation_, target))
                leaves.push_back(evaluator_->number_of(static_cast<int>(op), leaf));
            for (size_t reader = 0; reader < links_.operators.size(); ++reader)
                for (const auto& access : links_.operators[reader].accesses)
                    if (access.producer == static_cast<int>(op) &&
                        (readers.empty() || readers.back() != static_cast<int>(reader)))
                        readers.push_back(static_cast<int>(reader));
            context_->leaves.push_back(std::move(leaves));
            context_->readers.push_back(std::move(readers));
            context_->is_whole.push_back(std::ranges::any_of(node.results, [&](ValueId result) {
                return std::ranges::find(graph_.outputs, result) != graph_.outputs.end();
            }));
            context_->is_alone.push_back(false);
            context_->is_last.push_back(false);
            std::vector<bool> is_constant;
            for (const Iterator& iterator : node.definition()->iterators)
                is_constant.push_back(std::holds_alternative<Number>(iterator.extent->node));
            context_->is_constant.push_back(std::move(is_constant));
        }
    }

    BlockContext& context() { return *context_; }

    /// Why a kernel of this nest does not lower with these leaves, which have numbers.
    std::optional<lowering::Refusal> why_no_strides(const lowering::NumberedNest& nest,
                                                    const std::vector<int>& leaves,
                                                    const std::vector<bool>& is_tile) {
        size_t at = 0;
        return why_refused(nest, is_tile, [&](int) { return evaluator_->leaf(leaves[at++]); });
    }
    /// The same with `loops` for every operator.
    std::optional<lowering::Refusal> why_no_strides(const lowering::NumberedNest& nest,
                                                    const std::vector<bool>& is_tile) {
        return why_refused(nest, is_tile, [&](int op) {
            return plan::Leaf{links_.operators[static_cast<size_t>(op)].node->name,
                              kernels::plain_micro_kernel()};
        });
    }

private:
    template <typename LeafOf>
    std::optional<lowering::Refusal> why_refused(const lowering::NumberedNest& nest,
                                                 const std::vector<bool>& is_tile, const LeafOf& leaf_of) {
        plan::SpecialisationPlan placed = specialisation_;
        for (size_t op = 0; op < is_tile.size(); ++op)
            for (const ValueId result : links_.operators[op].node->results)
                if (is_tile[op]) placed.tensors.at(graph_[result].name).place = plan::Place::kTile;
        const lowering::LoweringInput input = lowering::lowering_input(graph_, plan_, placed, *constants_);
        return lowering::why_no_strides(input, block(),
                                        {block().name, lowering::named(links_, nest, leaf_of)});
    }

    const Block& block() const { return graph_.blocks.front(); }

    Graph graph_;
    cost::CostModel model_;
    plan::Plan plan_;
    plan::SpecialisationPlan specialisation_;
    std::unique_ptr<plan::ConstantSection> constants_;
    std::unique_ptr<lowering::LoweringInput> input_;
    lowering::BlockLinks links_;
    std::unique_ptr<cost::Evaluator> evaluator_;
    std::unique_ptr<BlockContext> context_;
};

}  // namespace tessera::schedule::testing
