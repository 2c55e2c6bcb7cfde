#include "planner/verify_plan.h"

#include "lowering/lower.h"
#include "memory/memory_plan.h"
#include "movement/verify_program.h"
#include "planner/verify_structure.h"
#include "planner/verify_workers.h"
#include "support/error.h"

namespace tessera::planner {

void verify_plan(const Graph& graph, const plan::Plan& plan, const std::string& where) {
    verify_structure(graph, plan, where);
    const plan::ConstantSection constants = plan::constant_section(graph, plan);
    for (const plan::SpecialisationPlan& s : plan.specialisations) {
        const movement::Program program = lowering::lower(graph, plan, s, constants);
        verify_workers(s, program, fmt::format("{}: specialisation {}", where, s.name));
        const std::vector<memory::LiveBuffer> buffers = memory::liveness(graph, program);
        std::map<std::string, int64_t> offsets;
        for (const auto& [name, tensor] : s.tensors) {
            if (tensor.offset) offsets[name] = *tensor.offset;
        }
        const std::vector<std::string> violations = memory::check(buffers, offsets, s.arena_bytes);
        if (!violations.empty())
            throw Error(fmt::format("{}: specialisation {}", where, s.name), "tensors", violations.front());
        movement::expect_sound(program, where);
    }
}

}  // namespace tessera::planner
