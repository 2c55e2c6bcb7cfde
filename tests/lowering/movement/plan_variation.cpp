#include "lowering/movement/plan_variation.h"

#include <utility>

#include "lowering/kernels/micro_kernels.h"
#include "lowering/movement/plan_editor.h"
#include "search/planner/place_buffers.h"
#include "search/planner/verify_plan.h"
#include "search/planner/verify_structure.h"
#include "support/error.h"

namespace tessera::testing {

plan::Plan placed_and_verified(const Graph& graph, plan::Plan plan) {
    for (plan::SpecialisationPlan& s : plan.specialisations) {
        for (auto& [name, tensor] : s.tensors) {
            tensor.offset.reset();
            tensor.bytes = 0;
        }
    }
    planner::verify_structure(graph, plan, "edited plan");
    plan = planner::place_buffers(
        graph, plan::parse_plan(plan::print(plan), "edited plan", kernels::micro_kernels()));
    planner::verify_plan(graph, plan, "edited plan");
    return plan;
}

Variation vary(const Graph& graph, const plan::Plan& plan, int accepted, int attempts,
               std::mt19937_64& random) {
    Variation variation{plan, {}};
    for (int i = 0; i < attempts && accepted > 0; ++i) {
        plan::Plan edited = variation.plan;
        PlanEditor editor(graph, edited, random);
        const auto& kinds = PlanEditor::kinds();
        const PlanEditor::Kind& kind =
            kinds[std::uniform_int_distribution<size_t>(0, kinds.size() - 1)(random)];
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

}  // namespace tessera::testing
