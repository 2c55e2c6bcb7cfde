#include "planner/place_buffers.h"

#include <algorithm>

#include "lowering/lower.h"
#include "memory/memory_plan.h"

namespace tessera::planner {

plan::Plan place_buffers(const Graph& graph, plan::Plan plan) {
    const plan::ConstantSection constants = plan::constant_section(graph, plan);
    for (plan::SpecialisationPlan& specialisation : plan.specialisations) {
        const std::vector<memory::LiveBuffer> buffers =
            memory::liveness(graph, lowering::lower(graph, plan, specialisation, constants));
        const bool is_placed = std::all_of(buffers.begin(), buffers.end(), [&](const memory::LiveBuffer& b) {
            const plan::TensorPlan& tensor = specialisation.tensors.at(b.value);
            return tensor.offset.has_value() && tensor.bytes == b.bytes;
        });
        if (is_placed) continue;
        const memory::MemoryPlan memory = memory::plan_memory(buffers);
        for (auto& [name, tensor] : specialisation.tensors) tensor.offset.reset();
        for (const memory::LiveBuffer& b : buffers) {
            plan::TensorPlan& tensor = specialisation.tensors.at(b.value);
            tensor.offset = memory.offsets.at(b.value);
            tensor.bytes = b.bytes;
        }
        specialisation.arena_bytes = memory.peak;
        specialisation.max_live_bytes = memory.max_live;
    }
    return plan;
}

}  // namespace tessera::planner
