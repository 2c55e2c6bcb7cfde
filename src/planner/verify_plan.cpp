#include "planner/verify_plan.h"

#include "lowering/lower.h"
#include "memory/memory_plan.h"
#include "movement/verify_program.h"
#include "planner/verify_structure.h"
#include "planner/verify_workers.h"
#include "support/error.h"

namespace tessera {

void verify_plan(const Graph& graph, const Plan& plan, const std::string& where) {
    verify_structure(graph, plan, where);
    const ConstantSection constants = constant_section(graph, plan);
    for (const SpecialisationPlan& s : plan.specialisations) {
        const Program program = lower(graph, plan, s, constants);
        verify_workers(s, program, fmt::format("{}: specialisation {}", where, s.name));
        const std::vector<LiveBuffer> buffers = liveness(graph, program);
        std::map<std::string, int64_t> offsets;
        for (const auto& [name, tensor] : s.tensors) {
            if (tensor.offset) offsets[name] = *tensor.offset;
        }
        const std::vector<std::string> violations = check(buffers, offsets, s.arena_bytes);
        if (!violations.empty())
            throw Error(fmt::format("{}: specialisation {}", where, s.name), "tensors", violations.front());
        expect_sound(program, where);
    }
}

}  // namespace tessera
