#include "lowering/movement/interpreted_plan.h"

#include <algorithm>

#include "lowering/lower.h"
#include "lowering/movement/step_memory.h"
#include "support/error.h"

namespace tessera::testing {

size_t specialisation_for(const plan::Plan& plan, const GraphCall& call) {
    const auto at =
        std::find_if(plan.specialisations.begin(), plan.specialisations.end(), [&](const auto& s) {
            return std::all_of(s.bounds.begin(), s.bounds.end(), [&](const auto& bounds) {
                const int64_t value = call.symbols.at(bounds.first);
                return value >= bounds.second.low && value <= bounds.second.high;
            });
        });
    TESSERA_CHECK(at != plan.specialisations.end(), "no specialisation");
    return static_cast<size_t>(at - plan.specialisations.begin());
}

InterpretedPlan::InterpretedPlan(const Graph& graph, const plan::Plan& plan) : graph_(graph), plan_(plan) {
    const plan::ConstantSection constants = plan::constant_section(graph, plan);
    for (const plan::SpecialisationPlan& s : plan.specialisations) {
        programs_.push_back(lowering::lower(graph, plan, s, constants));
        interpreters_.emplace_back(programs_.back());
    }
}

std::string InterpretedPlan::Run::faults_text() const {
    std::string text;
    for (const movement::RunFault& fault : faults) text += movement::print(fault) + "\n";
    return text;
}

InterpretedPlan::Run InterpretedPlan::run(const GraphCall& call,
                                          const movement::InterpretOptions& options) const {
    const size_t s = specialisation_for(plan_, call);
    const StepMemory memory(graph_, plan_, plan_.specialisations[s], call);
    std::vector<movement::RunFault> faults = interpreters_[s].run(memory.memory(), options);
    return {memory.results(), std::move(faults)};
}

}  // namespace tessera::testing
