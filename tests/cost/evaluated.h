#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cost/evaluate.h"
#include "cost/measured_machine.h"
#include "lowering/kernels/micro_kernels.h"
#include "lowering/lower.h"
#include "lowering/plan/constants.h"

namespace tessera::cost {

/// The only block of a graph without symbols, every value in the arena.
class Evaluated {
public:
    explicit Evaluated(const std::string& text, std::optional<machine::PublishedModel> published = {},
                       const machine::Machine& machine = tessera::testing::measured_machine())
        : graph_(parse_graph(text, "test")), model_(machine) {
        verify(graph_, "test");
        plan_.graph = graph_.name;
        specialisation_.name = "all";
        for (const Node& node : graph_.blocks.front().nodes)
            for (const ValueId result : node.results) specialisation_.tensors[graph_[result].name] = {};
        constants_ = plan::constant_section(graph_, plan_);
        input_ = std::make_unique<lowering::LoweringInput>(
            lowering::lowering_input(graph_, plan_, specialisation_, constants_));
        links_ = lowering::block_links(*input_, graph_.blocks.front());
        evaluator_ = std::make_unique<Evaluator>(*input_, links_, sizes_of(graph_, plan_, specialisation_),
                                                 model_, size_t{3}, published_on(published));
    }

    Evaluation operator()(const std::string& nest, std::vector<bool> is_tile) {
        return (*evaluator_)(plan::parse_nest(nest, "test", kernels::micro_kernels()), is_tile);
    }

    /// The bound of all operators together, by these leaves, one for each.
    double least_seconds(const std::vector<std::string>& leaves, const std::vector<bool>& is_free) {
        std::vector<std::vector<int>> numbers;
        for (const std::string& leaf : leaves) {
            const plan::Nest nest = plan::parse_nest(leaf, "test", kernels::micro_kernels());
            numbers.push_back({evaluator_->number_of(static_cast<int>(numbers.size()), nest.root())});
        }
        const std::vector<Evaluator::Least> least = evaluator_->least(numbers, is_free);
        std::vector<const Evaluator::Least*> all;
        for (const Evaluator::Least& each : least) all.push_back(&each);
        return evaluator_->least_seconds(all);
    }
    machine::PeakRates rates() const { return peak_rates(model_, 1); }

private:
    std::optional<Published> published_on(std::optional<machine::PublishedModel> model) const {
        return model ? std::optional(cost::published_on(*model, model_, 1)) : std::nullopt;
    }

    Graph graph_;
    CostModel model_;
    plan::Plan plan_;
    plan::SpecialisationPlan specialisation_;
    plan::ConstantSection constants_;
    std::unique_ptr<lowering::LoweringInput> input_;
    lowering::BlockLinks links_;
    std::unique_ptr<Evaluator> evaluator_;
};

}  // namespace tessera::cost
