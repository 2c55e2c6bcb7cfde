#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/packed_weights.h"
#include "import/npy/npy_file.h"
#include "ir/graph.h"
#include "ir/interpreter.h"
#include "lowering/plan/plan.h"
#include "run/runtime/artefact.h"
#include "run/runtime/memory.h"
#include "run/runtime/program.h"

namespace tessera::programs {

/// The arguments of a call: arrays by the names of inputs and states, and values of symbols.
struct CallArguments {
    std::map<std::string, import::NpyArray> inputs;
    std::map<std::string, int64_t> symbols;
    bool continues = false;  ///< states without an array are as the call before left them, not zero
};

/// An array that a call returns.
struct ResultArray {
    std::string name;
    ElementType element = ElementType::kF32;
    std::vector<int64_t> shape;
    std::vector<std::byte> elements;  ///< row-major
};

/// One call of a kernel.
struct KernelSeconds {
    std::string kernel;  ///< its last operator
    double seconds = 0;  ///< the worker with the most to do, and the barrier before it
};

/// A program with all arrays of one call in memory, checked; one call after another.
class ProgramCall {
public:
    /// @throws Error naming the artefact if it is that of a language model or damaged
    explicit ProgramCall(std::shared_ptr<const runtime::Artefact> artefact);

    /// Copies the arrays.
    /// @throws Error naming a missing or unknown input, an array, and any mismatch
    void set(const CallArguments& arguments);
    /// Runs the call, once; states continue from their contents. @pre set
    void run();
    /// The same call, timed kernel by kernel, in the order of execution. @pre set
    /// @throws Error if the code has no marks, as that of older artefacts
    std::vector<KernelSeconds> run_timed();

    /// The outputs, as the last call left them.
    std::vector<ResultArray> outputs() const;
    /// The states, likewise.
    std::vector<ResultArray> states() const;
    const runtime::LoadedProgram& program() const { return *program_; }

private:
    /// Not again for the same symbols, where no array of the call chooses.
    void check_chosen();
    void load_program(bool continues);
    void read_state(size_t index, std::span<const std::byte> elements);
    TensorData index_contents(const Value& value, int64_t repetition);

    std::shared_ptr<const runtime::Artefact> artefact_;
    Graph graph_;
    plan::Plan plan_;
    bool chooses_by_inputs_ = false;  ///< an input is an index
    std::vector<int64_t> symbols_;    ///< as the manifest's
    std::optional<std::vector<int64_t>> checked_symbols_;
    std::map<std::string, int64_t> symbol_values_;
    std::optional<compiler::PackedWeights> weights_;  ///< once an index is a constant
    std::unique_ptr<runtime::LoadedProgram> program_;
    std::vector<int64_t> state_extents_;  ///< for which the program was loaded
    std::vector<runtime::AnonymousMemory> inputs_;
    std::vector<runtime::AnonymousMemory> outputs_;
};

}  // namespace tessera::programs
