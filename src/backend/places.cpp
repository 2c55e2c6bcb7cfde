#include "backend/places.h"

#include <fmt/format.h>

namespace tessera::backend {
namespace {

/// The place of its first repetition, for the first worker.
std::string base_text(const movement::ProgramBuffer& b) {
    switch (b.memory) {
        case movement::MemoryKind::kInput:
            return fmt::format("step->inputs[{}]", b.position);
        case movement::MemoryKind::kOutput:
            return fmt::format("step->outputs[{}]", b.position);
        case movement::MemoryKind::kConstant:
            return fmt::format("step->constants + {}", b.position);
        case movement::MemoryKind::kState:
            return fmt::format("step->states[{}]", b.position);
        case movement::MemoryKind::kArena:
            return fmt::format("step->arena + {}", b.position);
    }
    return {};
}

}  // namespace

std::string place_of(const movement::ProgramBuffer& buffer, const IndexForms& forms) {
    std::string place = base_text(buffer);
    if (buffer.worker_stride > 0) place += fmt::format(" + worker * {}", buffer.worker_stride);
    if (!(buffer.repetition_stride == movement::Index(0)))
        place += fmt::format(" + repetition * ({})", text_of(buffer.repetition_stride, forms));
    return place;
}

}  // namespace tessera::backend
