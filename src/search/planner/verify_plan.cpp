#include "search/planner/verify_plan.h"

#include "lowering/lower.h"
#include "lowering/memory/memory_plan.h"
#include "lowering/movement/verify_program.h"
#include "search/planner/verify_structure.h"
#include "search/planner/verify_workers.h"
#include "support/error.h"

namespace tessera::planner {
namespace {

void verify_program(const Graph& graph, const plan::SpecialisationPlan& specialisation,
                    const movement::Program& program, const std::string& where) {
    const std::string here = fmt::format("{}: specialisation {}", where, specialisation.name);
    verify_workers(specialisation, program, here);
    const std::vector<memory::LiveBuffer> buffers = memory::liveness(graph, program);
    std::map<std::string, int64_t> offsets;
    for (const auto& [name, tensor] : specialisation.tensors) {
        if (tensor.offset) offsets[name] = *tensor.offset;
    }
    const std::vector<std::string> violations = memory::check(buffers, offsets, specialisation.arena_bytes);
    if (!violations.empty()) throw Error(here, "tensors", violations.front());
    movement::expect_sound(program, where);
}

}  // namespace

std::vector<movement::Program> verify_plan(const Graph& graph, const plan::Plan& plan,
                                           const std::string& where) {
    verify_structure(graph, plan, where);
    const plan::ConstantSection constants = plan::constant_section(graph, plan);
    std::vector<movement::Program> programs;
    for (const plan::SpecialisationPlan& s : plan.specialisations) {
        programs.push_back(lowering::lower(graph, plan, s, constants));
        verify_program(graph, s, programs.back(), where);
    }
    return programs;
}

void verify_lowered(const Graph& graph, const LoweredPlan& lowered, const std::string& where) {
    verify_structure(graph, lowered.plan, where);
    for (size_t s = 0; s < lowered.programs.size(); ++s)
        verify_program(graph, lowered.plan.specialisations[s], lowered.programs[s], where);
}

}  // namespace tessera::planner
