// Stated kernels of small graphs: parsed and checked, and planned if accepted.
#include "fuzz/target.h"
#include "lowering/kernels/micro_kernels.h"
#include "lowering/movement/example_plans.h"
#include "lowering/plan/copies.h"
#include "lowering/plan/stated_kernels.h"
#include "search/planner/default_planner.h"
#include "search/planner/loads.h"
#include "search/planner/stated.h"
#include "search/planner/usual_machine.h"
#include "search/planner/verify_plan.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tessera;
    return fuzz::accepts_or_throws_error([&] {
        planner::PlannerOptions options =
            testing::on_usual_machine({.machine = "test", .lanes = 8, .nests = 1});
        const auto stated =
            plan::parse_stated_kernels(fuzz::text_of(data, size), "fuzz", kernels::micro_kernels());
        options.stated = planner::with_copies(stated);
        for (const auto& [name, example] : testing::examples()) {
            const Graph graph = example.parsed();
            plan::Plan initial = planner::initial_plan(graph, options);
            try {
                planner::check_stated(graph, initial, planner::without_loads(stated));
                initial = planner::with_loads(graph, std::move(initial), stated);
            } catch (const Error&) {
                continue;  // of another example
            }
            const Graph whole = plan::with_copies(graph, initial, "fuzz");
            planner::verify_plan(whole, planner::complete_plan(whole, initial, options), "fuzz");
        }
    });
}

std::vector<std::string> tessera::fuzz::seeds() {
    std::vector<std::string> texts;
    for (const auto& [name, example] : testing::examples()) {
        std::string text;
        const plan::Plan planned = example.planned();
        for (const plan::KernelPlan& kernel : planned.specialisations.front().kernels)
            if (!plan::divided_loop(kernel.nest))
                text += "[[kernel]]\nnest = \"" + plan::print(kernel.nest) + "\"\n";
        texts.push_back(text);
    }
    return texts;
}
