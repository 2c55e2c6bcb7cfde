#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "ir/interpreter.h"
#include "lowering/plan/plan.h"
#include "run/runtime/artefact.h"
#include "run/runtime/memory.h"
#include "run/runtime/program.h"

namespace tessera::compiler {
class PackedWeights;
}

namespace tessera::programs {

/// The arguments of a call: NumPy files by the names of inputs and states, and values of symbols.
struct CallArguments {
    std::map<std::string, std::filesystem::path> inputs;
    std::map<std::string, int64_t> symbols;
};

/// An array that a call returns.
struct ResultArray {
    std::string name;
    ElementType element = ElementType::kF32;
    std::vector<int64_t> shape;
    std::vector<std::byte> elements;  ///< row-major
};

/// A program with all arrays of one call in memory, checked.
class ProgramCall {
public:
    /// Reads the files. States without one are zero.
    /// @throws Error naming the artefact if it is that of a language model or damaged, a missing or unknown
    /// input, a file, and any mismatch.
    ProgramCall(std::shared_ptr<const runtime::Artefact> artefact, const CallArguments& arguments);

    /// Runs the call, once; states continue from their contents.
    void run();

    /// The outputs, then the states, as the last call left them.
    std::vector<ResultArray> results() const;
    const runtime::LoadedProgram& program() const { return *program_; }

private:
    void read_inputs(const CallArguments& arguments);
    void read_state(size_t index, std::span<const std::byte> elements);
    /// @param constants of a constant value; else unused
    TensorData index_contents(const Value& value, int64_t repetition,
                              const compiler::PackedWeights* constants) const;

    std::shared_ptr<const runtime::Artefact> artefact_;
    Graph graph_;
    plan::Plan plan_;
    std::vector<int64_t> symbols_;  ///< as the manifest's
    std::map<std::string, int64_t> symbol_values_;
    std::unique_ptr<runtime::LoadedProgram> program_;
    std::vector<runtime::AnonymousMemory> inputs_;
    std::vector<runtime::AnonymousMemory> outputs_;
};

}  // namespace tessera::programs
