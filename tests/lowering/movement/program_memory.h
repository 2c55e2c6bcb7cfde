#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "lowering/kernels/micro_kernels.h"
#include "lowering/movement/interpret/interpret.h"
#include "lowering/movement/parse_program.h"

/// Programs that a test writes out, and memory for them.
namespace tessera::testing {

/// One kernel, or several, of a block.
inline std::string program_text(const std::string& kernels, int64_t workers = 1, int64_t repeat = 1,
                                int64_t arena = 1024) {
    return "program \"p\" workers " + std::to_string(workers) + " arena " + std::to_string(arena) +
           " {\nsymbol T: 1..64\nblock \"b\" x " + std::to_string(repeat) + " {\n" + kernels + "}\n}\n";
}

/// Plain memory: an input, an output and a state of 64 F32, 1 KiB of constants and of arena.
struct PlainMemory {
    std::vector<float> input = std::vector<float>(64), output = std::vector<float>(64, -1),
                       state = std::vector<float>(64);
    std::vector<std::byte> constants = std::vector<std::byte>(1024),
                           arena = std::vector<std::byte>(1024, std::byte{0xFF});
    std::vector<int32_t> indices = std::vector<int32_t>(64);

    template <class T>
    static std::span<std::byte> bytes(std::vector<T>& values) {
        return {reinterpret_cast<std::byte*>(values.data()), values.size() * sizeof(T)};
    }
    /// Input 1 are the indices.
    movement::ProgramMemory memory(int64_t t = 4) {
        return {.symbols = {t},
                .inputs = {bytes(input), bytes(indices)},
                .outputs = {bytes(output)},
                .states = {bytes(state)},
                .constants = constants,
                .arena = arena};
    }
    template <class T>
    void set_constants(size_t offset, const std::vector<T>& values) {
        std::memcpy(constants.data() + offset, values.data(), values.size() * sizeof(T));
    }
};

/// The faults of a run, one a line.
inline std::string faults_of(const std::string& text, PlainMemory& memory,
                             const movement::InterpretOptions& options = {}, int64_t t = 4) {
    std::string out;
    const movement::Program program = movement::parse_program(text, "test", kernels::call_kinds());
    for (const movement::RunFault& fault : movement::interpret(program, memory.memory(t), options))
        out += movement::print(fault) + "\n";
    return out;
}

}  // namespace tessera::testing
