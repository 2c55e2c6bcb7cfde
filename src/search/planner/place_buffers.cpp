#include "search/planner/place_buffers.h"

#include <algorithm>

#include "lowering/lower.h"
#include "lowering/memory/memory_plan.h"

namespace tessera::planner {
namespace {

bool is_placed(const std::vector<memory::LiveBuffer>& buffers,
               const plan::SpecialisationPlan& specialisation) {
    return std::ranges::all_of(buffers, [&](const memory::LiveBuffer& buffer) {
        const plan::TensorPlan& tensor = specialisation.tensors.at(buffer.value);
        return tensor.offset.has_value() && tensor.bytes == buffer.bytes;
    });
}

void place(const std::vector<memory::LiveBuffer>& buffers, plan::SpecialisationPlan& specialisation) {
    const memory::MemoryPlan memory = memory::plan_memory(buffers);
    for (auto& [name, tensor] : specialisation.tensors) tensor.offset.reset();
    for (const memory::LiveBuffer& buffer : buffers) {
        plan::TensorPlan& tensor = specialisation.tensors.at(buffer.value);
        tensor.offset = memory.offsets.at(buffer.value);
        tensor.bytes = buffer.bytes;
    }
    specialisation.arena_bytes = memory.peak;
    specialisation.max_live_bytes = memory.max_live;
}

/// Buffers of the arena lie where the specialisation has placed them.
void rebase(movement::Program& program, const plan::SpecialisationPlan& specialisation) {
    program.arena_bytes = specialisation.arena_bytes;
    for (movement::ProgramBlock& block : program.blocks)
        for (movement::Kernel& kernel : block.kernels)
            for (movement::ProgramBuffer& buffer : kernel.buffers)
                if (buffer.memory == movement::MemoryKind::kArena)
                    buffer.position = specialisation.tensors.at(buffer.value).offset.value_or(0);
}

}  // namespace

LoweredPlan lowered_and_placed(const Graph& graph, plan::Plan plan) {
    LoweredPlan out{std::move(plan), {}};
    const plan::ConstantSection constants = plan::constant_section(graph, out.plan);
    for (plan::SpecialisationPlan& specialisation : out.plan.specialisations) {
        movement::Program& program =
            out.programs.emplace_back(lowering::lower(graph, out.plan, specialisation, constants));
        const std::vector<memory::LiveBuffer> buffers = memory::liveness(graph, program);
        if (is_placed(buffers, specialisation)) continue;
        place(buffers, specialisation);
        rebase(program, specialisation);
    }
    return out;
}

plan::Plan place_buffers(const Graph& graph, plan::Plan plan) {
    return lowered_and_placed(graph, std::move(plan)).plan;
}

}  // namespace tessera::planner
