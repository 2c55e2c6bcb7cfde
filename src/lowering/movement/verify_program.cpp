#include "lowering/movement/verify_program.h"

#include <algorithm>
#include <set>

#include "lowering/movement/print_value.h"
#include "lowering/movement/verify_kernel.h"
#include "support/checked.h"
#include "support/error.h"

namespace tessera::movement {
namespace {

class ProgramVerifier {
public:
    explicit ProgramVerifier(const Program& program) : program_(program) {}

    std::vector<ProgramFault> run() {
        if (program_.workers < 1) refuse("the program has no workers");
        ProgramNames names;
        names.add(Variable{kWorker, {0, program_.workers - 1}});
        for (const Variable& symbol : program_.symbols) {
            if (!names.add(symbol)) refuse(fmt::format("symbol {} is declared already", symbol.name));
            if (symbol.bounds.low > symbol.bounds.high || symbol.multiple_of < 1)
                refuse(fmt::format("symbol {} has no values", symbol.name));
        }
        for (const ProgramBlock& block : program_.blocks) {
            if (block.repeat < 1) refuse(fmt::format("block {} has no repetitions", block.name));
            std::set<std::string> seen;
            for (const Kernel& kernel : block.kernels) {
                kernel_ = kernel.name;
                if (!seen.insert(kernel.name).second) refuse("its block has two kernels of this name");
                if (!is_identifier(kernel.name)) refuse("its name is no identifier");
                for (const ProgramBuffer& buffer : kernel.buffers) check(buffer);
                verify_kernel(kernel, names, faults_);
                kernel_.clear();
            }
        }
        return std::move(faults_);
    }

private:
    void refuse(std::string problem) { faults_.push_back({kernel_, {}, std::move(problem)}); }

    void check(const ProgramBuffer& buffer) {
        const auto refuse_buffer = [&](const std::string& problem) {
            refuse(fmt::format("buffer {}: {}", buffer.name, problem));
        };
        const bool is_constant =
            buffer.memory == MemoryKind::kInput || buffer.memory == MemoryKind::kConstant;
        if (buffer.is_written && is_constant)
            refuse_buffer(fmt::format("is written, but lies in the {}s", name(buffer.memory)));
        if (bits(buffer.element) < 8 && buffer.memory != MemoryKind::kConstant)
            refuse_buffer("has elements smaller than a byte, which only constants have");
        if (buffer.position < 0 || buffer.bytes < 0 || buffer.worker_stride < 0)
            refuse_buffer("has a negative position or size");
        if (buffer.worker_stride > 0) {
            const auto copies = checked_mul(buffer.worker_stride, program_.workers);
            if (buffer.memory != MemoryKind::kArena) refuse_buffer("has copies, but is not in the arena");
            if (!copies || *copies > buffer.bytes)
                refuse_buffer(fmt::format("{} copies of {} bytes do not fit into {}", program_.workers,
                                          buffer.worker_stride, buffer.bytes));
        }
        if (buffer.memory != MemoryKind::kArena) return;
        const auto end = checked_add(buffer.position, buffer.bytes);
        if (!end || *end > program_.arena_bytes)
            refuse_buffer(fmt::format("{} bytes at {} do not lie in the arena of {} bytes", buffer.bytes,
                                      buffer.position, program_.arena_bytes));
    }

    const Program& program_;
    std::string kernel_;
    std::vector<ProgramFault> faults_;
};

}  // namespace

std::string print(const ProgramFault& fault) {
    std::string text = fault.kernel.empty() ? "" : fmt::format("kernel {}: ", fault.kernel);
    if (!fault.statement.empty()) text += fmt::format("`{}`: ", fault.statement);
    return text + fault.problem;
}

std::vector<ProgramFault> verify(const Program& program) {
    return ProgramVerifier(program).run();
}

void expect_sound(const Program& program, const std::string& where) {
    const std::vector<ProgramFault> faults = verify(program);
    if (!faults.empty()) throw Error(where, program.specialisation, print(faults.front()));
}

}  // namespace tessera::movement
