#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "chip/device_program.h"
#include "chip/partition/chip_tables.h"
#include "chip/partition/program_contents.h"
#include "ir/graph.h"

namespace tessera::partition {

/// A constant or a state in the HBM, for one repetition of its block.
struct FarTensor {
    ValueId value;
    int64_t repetition = 0;
    auto operator<=>(const FarTensor&) const = default;
};

/// A value that lies on the chip: an input of the step, or the result of an operator. The new contents of a
/// state are one, too, as far as the step has made them.
struct ChipValue {
    ValueId value;
    std::vector<int64_t> shape;
    int64_t bits = 0;     ///< of an element
    Homes homes;          ///< at the end
    size_t last_use = 0;  ///< the last position that reads it; one past the end: an output
};

/// The place of a tensor: elements that no core has are in the HBM.
struct TensorPlace {
    std::optional<FarTensor> far;
    int32_t on_chip = -1;  ///< number of a ChipValue
};

/// Elements of a value that an update leaves alone: they become elements of the new value, on their core.
struct KeptElements {
    int32_t from = 0;  ///< numbers of values
    int32_t to = 0;
    Home home;
};

struct ExecutableOperator {
    size_t op = 0;  ///< of the tables
    OperatorContents contents;
    std::vector<TensorPlace> from;   ///< of each operand, and of the previous contents of an update
    std::vector<TensorPlace> to;     ///< of each result
    std::vector<KeptElements> kept;  ///< of updates of values that have no place in the HBM
};

/// A device program that can be executed: it has the contents of its transfers, and the work of its tiles.
struct ExecutableProgram {
    chip::DeviceProgram program;
    std::vector<ExecutableOperator> operators;  ///< of each position
    std::vector<ChipValue> values;
    std::map<std::string, int32_t> inputs;  ///< numbers of the values of inputs that are read
    std::map<std::string, Homes> input_homes;
    std::vector<TensorPlace> outputs;
};

/// The program of a schedule. Inputs lie in even parts on all cores, a result where its last sum was made.
/// New contents of a state go to the HBM, and to operators of the same step from the cores that made them, so
/// that a preload may be issued earlier.
/// @param graph without composites, as the tables were made from it
/// @throws Error naming an operator that reads a state's contents after they were replaced, and a pod of
/// several chips
ExecutableProgram executable_program(const Graph& graph, const std::map<std::string, int64_t>& symbols,
                                     const ChipTables& tables, const chip::Schedule& schedule,
                                     const chip::ChipDescription& chip);

}  // namespace tessera::partition
