#include "planner/place_buffers.h"

#include <algorithm>

#include "lowering/lower.h"
#include "memory/memory_plan.h"

namespace tessera {

Plan place_buffers(const Graph& graph, Plan plan) {
    const ConstantSection constants = constant_section(graph, plan);
    for (SpecialisationPlan& specialisation : plan.specialisations) {
        const std::vector<LiveBuffer> buffers =
            liveness(graph, lower(graph, plan, specialisation, constants));
        const bool is_placed = std::all_of(buffers.begin(), buffers.end(), [&](const LiveBuffer& b) {
            const TensorPlan& tensor = specialisation.tensors.at(b.value);
            return tensor.offset.has_value() && tensor.bytes == b.bytes;
        });
        if (is_placed) continue;
        const MemoryPlan memory = plan_memory(buffers);
        for (auto& [name, tensor] : specialisation.tensors) tensor.offset.reset();
        for (const LiveBuffer& b : buffers) {
            TensorPlan& tensor = specialisation.tensors.at(b.value);
            tensor.offset = memory.offsets.at(b.value);
            tensor.bytes = b.bytes;
        }
        specialisation.arena_bytes = memory.peak;
        specialisation.max_live_bytes = memory.max_live;
    }
    return plan;
}

}  // namespace tessera
