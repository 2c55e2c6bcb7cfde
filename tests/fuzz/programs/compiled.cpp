#include "fuzz/programs/compiled.h"

#include <fmt/format.h>

#include "backend/backend.h"
#include "backend/cpp/emit.h"
#include "backend/taking_turns.h"
#include "backend/toolchain.h"
#include "lowering/movement/step_memory.h"
#include "support/error.h"
#include "tessera/step.h"

namespace tessera::fuzz {

CompiledPrograms::CompiledPrograms(const std::vector<Lowered>& all, const Treatment& treatment) {
    std::vector<movement::Program> programs;
    for (size_t p = 0; p < all.size(); ++p) {
        for (movement::Program program : all[p].programs) {
            program.specialisation += fmt::format("_{}", p);
            programs.push_back(std::move(program));
        }
        entries_.push_back(
            backend::entry_name(programs[programs.size() - all[p].programs.size() + all[p].called]));
    }
    const backend::SharedObject object =
        backend::compile_shared_object(backend::cpp::emit("programs", programs),
                                       {.compiler = treatment.machine.compiler,
                                        .isa = treatment.machine.isa,
                                        .include_directory = std::string(TESSERA_SOURCE_DIR) + "/include",
                                        .cache_directory = treatment.scratch / "code",
                                        .search_path = "/usr/local/bin:/usr/bin:/bin"});
    library_ = std::make_unique<runtime::SharedLibrary>(object.bytes, "programs");
}

std::string CompiledPrograms::difference_when_called(size_t index, const Program& program,
                                                     const Lowered& lowered, const Expected& expected) const {
    const GraphCall call = program.call();
    const testing::StepMemory memory(lowered.graph, lowered.plan, lowered.specialisation(), call);
    const movement::ProgramMemory parts = memory.memory();
    std::vector<const void*> inputs;
    std::vector<void*> outputs;
    std::vector<unsigned char*> states;
    for (const auto& bytes : parts.inputs) inputs.push_back(bytes.data());
    for (const auto& bytes : parts.outputs) outputs.push_back(bytes.data());
    for (const auto& bytes : parts.states) states.push_back(reinterpret_cast<unsigned char*>(bytes.data()));
    TesseraStep step{};
    step.symbols = parts.symbols.data();
    step.inputs = inputs.data();
    step.outputs = outputs.data();
    step.states = states.data();
    step.constants = reinterpret_cast<unsigned char*>(parts.constants.data());
    step.arena = reinterpret_cast<unsigned char*>(parts.arena.data());
    const auto entry = library_->function<TesseraStepFunction>(entries_.at(index));
    if (lowered.plan.workers == 1)
        entry(&step);
    else
        testing::run_by_turns(entry, step, lowered.plan.workers, testing::Turns::kRandom, index);
    try {
        return difference(expected, memory.results());
    } catch (const Error& error) {
        return error.what();  // it wrote outside of its buffers
    }
}

}  // namespace tessera::fuzz
