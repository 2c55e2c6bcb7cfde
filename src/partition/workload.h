#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "chip/schedule_problem.h"
#include "facts/bound_definition.h"
#include "ir/graph.h"
#include "partition/specialise.h"

/// From a model to the problem that `tessera chip schedule` solves: workloads, partition plans of their
/// operators, tables (docs/chip-plan.md).
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
    std::vector<int> values;    ///< of the graph, of each tensor: what several operators read is one value
};

/// One step of a model.
struct Workload {
    std::string name;
    std::vector<WorkOperator> operators;
    std::vector<size_t> sequence;  ///< as they are executed; never empty
    std::vector<chip::Repeat> repeats;
    int64_t carried_bytes =
        0;  ///< at most, of values that wait while an operator runs that does not use them
    std::vector<std::string> remarks;
};

struct DecodeShape {
    int64_t batch = 32;       ///< sequences that get one more token each
    int64_t sequence = 2048;  ///< positions of each, the new one included; a multiple of 16
};

/// One decode step of a model that a HuggingFace config.json describes. No weights are needed. The contents
/// of the step's index inputs are known: every sequence has its own pages, one behind the other, and all its
/// positions count.
/// @throws Error naming what the importer does not support, or a shape that the model does not have.
Workload decode_workload(const std::filesystem::path& config, const DecodeShape& shape);

/// The step of a graph at these values of its symbols (those of one value may be left out). Index operands
/// may be any: an operator that reads through one may touch all of what it reads.
/// @throws Error naming a symbol without a value, or with one outside its bounds.
Workload graph_workload(const Graph& graph, std::map<std::string, int64_t> symbols, const std::string& where,
                        const std::map<std::string, IndexContents>& contents = {});

}  // namespace tessera::partition
