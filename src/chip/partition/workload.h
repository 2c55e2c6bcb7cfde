#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "chip/partition/specialise.h"
#include "chip/schedule_problem.h"
#include "ir/facts/bound_definition.h"
#include "ir/graph.h"

/// The way from a model to the problem that `tessera chip schedule` solves: workloads, partition plans of
/// their operators, tables (docs/chip-plan.md).
namespace tessera::partition {

enum class Place : uint8_t {
    kHbm,     ///< a constant or a state
    kOnChip,  ///< an input of the step, or made by an operator
};

/// An operator as a chip executes it.
struct WorkOperator {
    std::string name;
    facts::BoundDefinition bound;
    std::vector<Place> places;  ///< of each tensor; a result in HBM is the new contents of a state
    std::vector<int> values;    ///< of the graph, of each tensor: one value, however many operators read it
};

/// One step of a model.
struct Workload {
    std::string name;
    std::vector<WorkOperator> operators;
    std::vector<size_t> sequence;  ///< in the order of execution; never empty
    std::vector<chip::Repeat> repeats;
    int64_t carried_bytes =
        0;  ///< at most, of values that wait while an operator runs that does not use them
    std::vector<std::string> remarks;
};

/// The known facts of a step besides its graph.
struct StepFacts {
    /// Contents of its index inputs. Others may hold anything: an operator that reads through one may touch
    /// all of the tensor that it reads.
    std::map<std::string, IndexContents> contents;
    /// The numbers of other index inputs, row-major: they stay operands, and reads through them are known.
    std::map<std::string, std::vector<double>> numbers;
    /// The step itself has made all of a state before it reads it: it reads it on the chip.
    bool makes_states = false;
    /// New contents of states go to the HBM.
    bool stores_states = true;
};

/// Changes the graph of a step, which has no composites, before it becomes a workload.
using GraphPass = std::function<Graph(const Graph&)>;

/// Values of all symbols; those with one possible value may be left out. @throws Error of kind kUsage naming
/// a symbol without a value, one with a value outside its bounds, and a value for an unknown symbol
std::map<std::string, int64_t> complete_symbols(const Graph& graph, std::map<std::string, int64_t> symbols,
                                                const std::string& where);

/// Cores rotate tiles of operators whose iterations have no order.
/// @throws Error naming an operator that is a recurrence
void expect_no_recurrences(const Graph& graph, const std::string& where);

/// The step of a graph at these values of its symbols (those with one possible value may be left out).
/// @throws Error naming a symbol without a value, or with one outside its bounds.
Workload graph_workload(const Graph& graph, std::map<std::string, int64_t> symbols, const std::string& where,
                        const StepFacts& facts = {}, const GraphPass& pass = {});

}  // namespace tessera::partition
