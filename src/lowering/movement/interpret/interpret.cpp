#include "lowering/movement/interpret/interpret.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

#include "lowering/movement/interpret/index_value.h"
#include "lowering/movement/interpret/run_kernel.h"
#include "lowering/movement/verify_program.h"
#include "support/error.h"

namespace tessera::movement {
namespace {

/// One kernel in one repetition of its block.
struct Turn {
    size_t kernel;
    int64_t repetition;
};

struct Region {
    std::span<std::byte> bytes;
    Shadow* shadow = nullptr;
};

/// Memory that programs write, with its shadow.
class StepShadow {
public:
    explicit StepShadow(const ProgramMemory& memory)
        : memory_(memory), arena_(memory.arena.size(), Shadow::kNobody) {
        for (const auto& output : memory.outputs) outputs_.emplace_back(output.size(), Shadow::kNobody);
        for (const auto& state : memory.states) states_.emplace_back(state.size(), Shadow::kGiven);
    }

    Region region(const ProgramBuffer& buffer) {
        const auto at = static_cast<size_t>(buffer.position);
        switch (buffer.memory) {
            case MemoryKind::kInput:
                return {of(memory_.inputs, at, buffer)};
            case MemoryKind::kOutput:
                return {of(memory_.outputs, at, buffer), &outputs_[at]};
            case MemoryKind::kState:
                return {of(memory_.states, at, buffer), &states_[at]};
            case MemoryKind::kConstant:
                return {memory_.constants};
            case MemoryKind::kArena:
                return {memory_.arena, &arena_};
        }
        return {};
    }

private:
    static std::span<std::byte> of(const std::vector<std::span<std::byte>>& all, size_t at,
                                   const ProgramBuffer& buffer) {
        if (at >= all.size())
            throw Error("program", buffer.name,
                        fmt::format("is {} {}, and there are {}", name(buffer.memory), at, all.size()));
        return all[at];
    }

    const ProgramMemory& memory_;
    Shadow arena_;
    std::vector<Shadow> outputs_, states_;
};

}  // namespace

struct Interpreter::Code {
    Program program;
    std::vector<KernelCode> kernels;
    std::vector<std::string> kernel_names;
    std::vector<std::vector<Turn>> phases;
    std::map<std::string, uint32_t> owners;  ///< of bytes in the arena, by the names of buffers

    explicit Code(const Program& given) : program(given) {
        expect_sound(program, "interpreter");
        for (const ProgramBlock& block : program.blocks) {
            const size_t first = kernels.size();
            for (const Kernel& kernel : block.kernels) {
                kernels.push_back(kernel_code(program, kernel));
                kernel_names.push_back(kernel.name);
                for (const ProgramBuffer& buffer : kernel.buffers)
                    owners.emplace(buffer.name, static_cast<uint32_t>(owners.size() + 1));
            }
            for (int64_t repetition = 0; repetition < block.repeat; ++repetition) {
                for (size_t kernel = first; kernel < kernels.size(); ++kernel) {
                    if (phases.empty() || (kernels[kernel].kernel->barrier && program.workers > 1))
                        phases.emplace_back();
                    phases.back().push_back({kernel, repetition});
                }
            }
        }
    }
};

namespace {

class StepRun {
public:
    StepRun(const Program& program, const std::vector<KernelCode>& kernels,
            const std::map<std::string, uint32_t>& owners, const std::vector<std::string>& kernel_names,
            const ProgramMemory& memory, const InterpretOptions& options)
        : program_(program),
          kernels_(kernels),
          owners_(owners),
          memory_(memory),
          shadow_(memory),
          faults_(kernel_names, options.most_faults),
          order_(static_cast<size_t>(program.workers)),
          options_(options),
          random_(options.seed) {
        if (memory.symbols.size() != program.symbols.size())
            throw Error("program", program.specialisation,
                        fmt::format("has {} symbols, and {} values are given", program.symbols.size(),
                                    memory.symbols.size()));
        std::iota(order_.begin(), order_.end(), uint16_t{0});
        if (options.order == WorkerOrder::kDescending) std::reverse(order_.begin(), order_.end());
    }

    void run(const std::vector<Turn>& phase) {
        ++phase_;
        if (options_.order == WorkerOrder::kRandom) std::shuffle(order_.begin(), order_.end(), random_);
        for (const uint16_t worker : order_) {
            for (const Turn& turn : phase) {
                if (!kernels_[turn.kernel].kernel->alone || worker == 0) run(turn, worker);
            }
        }
    }

    std::vector<RunFault> faults() const { return faults_.take(); }

private:
    void run(const Turn& turn, uint16_t worker) {
        const KernelCode& code = kernels_[turn.kernel];
        std::vector<int64_t> slots = {worker};
        slots.insert(slots.end(), memory_.symbols.begin(), memory_.symbols.end());
        std::vector<StorageRun> storages;
        for (size_t b = 0; b < code.kernel->buffers.size(); ++b) {
            const ProgramBuffer& buffer = code.kernel->buffers[b];
            storages.push_back(
                storage(buffer, stride(code.repetition_strides[b], slots), turn.repetition, worker));
        }
        KernelRun(code, std::move(storages), slots, {phase_, worker, static_cast<uint16_t>(turn.kernel)},
                  faults_)
            .run();
    }

    /// The value of a stride, which depends on symbols alone.
    static int64_t stride(const IndexCode& code, const std::vector<int64_t>& slots) {
        return index_value(code, slots, [](size_t, int64_t) { return int64_t{0}; });
    }

    StorageRun storage(const ProgramBuffer& buffer, int64_t stride, int64_t repetition, int64_t worker) {
        const Region region = shadow_.region(buffer);
        const auto size = static_cast<int64_t>(region.bytes.size());
        int64_t begin = buffer.memory == MemoryKind::kConstant || buffer.memory == MemoryKind::kArena
                            ? buffer.position
                            : 0;
        begin += buffer.worker_stride * worker + stride * repetition;
        int64_t bytes = buffer.worker_stride > 0 ? buffer.worker_stride : buffer.bytes;
        if (buffer.memory == MemoryKind::kState && stride > 0) bytes = std::min(bytes, stride);
        bytes = std::clamp<int64_t>(size - begin, 0, bytes);
        StorageRun run;
        run.data = region.bytes.data() + (bytes > 0 ? begin : 0);
        run.elements = bytes * 8 / bits(buffer.element);
        run.element = buffer.element;
        run.shadow = region.shadow;
        run.shadow_begin = static_cast<size_t>(begin);
        run.owner = owners_.at(buffer.name);
        run.is_shared = buffer.memory == MemoryKind::kArena;
        run.name = &buffer.name;
        return run;
    }

    const Program& program_;
    const std::vector<KernelCode>& kernels_;
    const std::map<std::string, uint32_t>& owners_;
    const ProgramMemory& memory_;
    StepShadow shadow_;
    FaultList faults_;
    std::vector<uint16_t> order_;
    InterpretOptions options_;
    std::mt19937_64 random_;
    uint32_t phase_ = 0;
};

}  // namespace

Interpreter::Interpreter(const Program& program) : code_(std::make_unique<Code>(program)) {}
Interpreter::Interpreter(Interpreter&&) noexcept = default;
Interpreter::~Interpreter() = default;

std::vector<RunFault> Interpreter::run(const ProgramMemory& memory, const InterpretOptions& options) const {
    StepRun run(code_->program, code_->kernels, code_->owners, code_->kernel_names, memory, options);
    for (const std::vector<Turn>& phase : code_->phases) run.run(phase);
    return run.faults();
}

std::vector<RunFault> interpret(const Program& program, const ProgramMemory& memory,
                                const InterpretOptions& options) {
    return Interpreter(program).run(memory, options);
}

}  // namespace tessera::movement
