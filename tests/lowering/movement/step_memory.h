#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ir/graph_interpreter.h"
#include "lowering/movement/interpret/interpret.h"
#include "lowering/plan/plan.h"

/// All memory of one call of a step, laid out as its plan says.
namespace tessera::testing {

/// 64-byte aligned bytes that begin as NaN, with canaries around them that show a write outside.
class GuardedMemory {
public:
    explicit GuardedMemory(size_t bytes);
    unsigned char* data() const { return data_; }
    std::span<std::byte> bytes() const { return {reinterpret_cast<std::byte*>(data_), bytes_}; }
    bool is_intact() const;

private:
    size_t bytes_;
    std::vector<unsigned char> storage_;
    unsigned char* data_;
};

class StepMemory {
public:
    /// Packs constants, states and inputs of the call.
    StepMemory(const Graph& graph, const plan::Plan& plan, const plan::SpecialisationPlan& specialisation,
               const GraphCall& call);

    /// For a program of the specialisation.
    movement::ProgramMemory memory() const;
    /// The present contents of the memory. @throws Error if the step wrote outside of its buffers.
    GraphResult results() const;

private:
    void add_constants(const GraphCall& call);
    void add_input(const Value& value, const TensorData& data);
    void add_state(const Value& value, const std::vector<TensorData>& before);

    const Graph& graph_;
    const plan::Plan& plan_;
    std::map<std::string, int64_t> values_of_symbols_;
    std::vector<int64_t> symbols_;  ///< in the graph's order
    GuardedMemory constants_, arena_;
    std::vector<GuardedMemory> inputs_, states_, outputs_;
};

}  // namespace tessera::testing
