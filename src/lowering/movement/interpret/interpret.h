#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lowering/movement/program.h"

/// Programs executed without a compiler.
///
/// A program runs on memory as emitted code does, byte offsets included, so that mistakes of memory planning
/// show. Calls are executed by their meaning. Between two barriers the workers run one after the other; races
/// that they would have if they ran at the same time are found from their accesses.
///
/// Values are those of the emitted code but for the order of sums, which are kept in double: operations
/// round to f32, stores to the type of the element.
namespace tessera::movement {

/// The memory of one step. Elements that a program has not written yet may hold anything.
struct ProgramMemory {
    std::vector<int64_t> symbols;  ///< as Program::symbols
    std::vector<std::span<std::byte>> inputs, outputs, states;
    std::span<std::byte> constants, arena;
};

/// The order in which the workers run between two barriers. Sound programs do the same in every order.
enum class WorkerOrder : uint8_t { kAscending, kDescending, kRandom };

struct InterpretOptions {
    WorkerOrder order = WorkerOrder::kAscending;
    uint64_t seed = 1;         ///< of kRandom
    size_t most_faults = 100;  ///< of which more are not kept
};

/// Something that a program must not do.
struct RunFault {
    enum class Kind : uint8_t {
        kRace,       ///< two workers touch an element in one phase, one of them writes it
        kUnwritten,  ///< an element is read that nothing has written
        kForeign,    ///< an element is read whose bytes belong to another buffer
        kOutside,    ///< the element is none of the buffer
        kBounds,     ///< a variable has a value that its declaration excludes
    };
    Kind kind;
    std::string kernel;
    std::string buffer;  ///< kBounds: the variable
    std::string problem;
    std::vector<int64_t> elements;  ///< of the buffer, ascending; kBounds: values of the variable
};
/// "kernel k: race in q[3] (8 elements): written by worker 1, read by worker 0 in kernel p"
std::string print(const RunFault& fault);

class Interpreter {
public:
    /// @throws Error if `verify` finds fault in the program.
    explicit Interpreter(const Program& program);
    Interpreter(Interpreter&&) noexcept;
    ~Interpreter();

    /// Runs one step. Faults do not end it: reads outside of a buffer give NaN, writes there are lost.
    std::vector<RunFault> run(const ProgramMemory& memory, const InterpretOptions& options = {}) const;

private:
    struct Code;
    std::unique_ptr<Code> code_;
};

/// Runs one step of the program.
std::vector<RunFault> interpret(const Program& program, const ProgramMemory& memory,
                                const InterpretOptions& options = {});

}  // namespace tessera::movement
