#include "compiler/measure/program_calls.h"

#include <algorithm>
#include <utility>

#include "backend/backend.h"
#include "backend/cpp/emit.h"
#include "compiler/measure/bandwidth.h"
#include "compiler/measure/probe_code.h"

namespace tessera::measure {
namespace {

/// Constants of which a step reads a few rows begin so many bytes further on at each call.
constexpr int64_t kLeastStride = int64_t{64} << 10;

std::vector<movement::Program> programs_of(const std::vector<LoweredForm>& forms) {
    std::vector<movement::Program> programs;
    for (const LoweredForm& form : forms) programs.push_back(form.program);
    return programs;
}

int64_t constants_of(const std::vector<LoweredForm>& forms) {
    int64_t most = 64;
    for (const LoweredForm& form : forms) most = std::max(most, form.constants_bytes);
    return most;
}

bool has_indices(const Graph& graph) {
    return std::ranges::any_of(graph.values, [](const Value& value) {
        return value.kind == ValueKind::kInput && value.type.element == ElementType::kI32;
    });
}

int64_t stride_of(const Graph& graph, const std::vector<LoweredForm>& forms) {
    if (has_indices(graph)) return kLeastStride;
    return std::max(kLeastStride, (constants_of(forms) + 63) / 64 * 64);
}

}  // namespace

// The constants that were read last are in a cache: the next ones are others, whichever form reads them.
ProgramCalls::ProgramCalls(const Graph& graph, const std::vector<LoweredForm>& forms,
                           const machine::Machine& machine, const MeasureOptions& options,
                           PinnedThreads& threads)
    : graph_(graph),
      forms_(forms),
      threads_(threads),
      code_(compile_probe(backend::cpp::emit("forms", programs_of(forms)), machine, options), graph.name),
      stride_(stride_of(graph, forms)),
      places_(std::max<int64_t>(1, working_set(machine, machine.memory.size() - 1, 1, options) / stride_)),
      constants_(threads, places_ * stride_ + constants_of(forms), options) {}

Sample ProgramCalls::sample(size_t form, const cost::SizePoint& at, double seconds) {
    const auto entry = code_.function<TesseraStepFunction>(backend::entry_name(forms_[form].program));
    const auto memory = std::make_shared<CallMemory>(graph_, forms_[form].arena_bytes, at);
    return repeated(
        [this, entry, memory](int64_t calls) {
            const int64_t first = std::exchange(next_, (next_ + calls) % places_);
            return threads_.seconds([&](int64_t thread) {
                for (int64_t call = 0; call < calls; ++call) {
                    TesseraStep step = memory->step(constants_.of(0) + (first + call) % places_ * stride_);
                    step.worker = thread;
                    step.meet = [](void* team) { static_cast<runtime::WorkerTeam*>(team)->meet(); };
                    step.team = &threads_.team();
                    entry(&step);
                    if (threads_.size() > 1) threads_.team().meet();
                }
            });
        },
        seconds);
}

}  // namespace tessera::measure
