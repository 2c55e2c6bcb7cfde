#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "lowering/movement/number_kind.h"
#include "lowering/movement/program.h"

/// A kernel in the form in which it is interpreted: variables, accumulators and buffers are numbers, calls
/// are replaced by their meaning.
namespace tessera::movement {

/// An integer expression over the variables' slots.
struct IndexCode {
    struct Linear {
        size_t slot;
        int64_t coefficient;
    };
    struct Operation {
        Index::AtomKind kind;
        int64_t coefficient;
        int64_t modulus;
        size_t storage;  ///< kRead
        std::vector<IndexCode> arguments;
    };
    int64_t constant = 0;
    std::vector<Linear> linear;
    std::vector<Operation> operations;
};

struct ElementCode {
    size_t storage;
    IndexCode offset;
    int64_t lane_stride = 0;  ///< 0 also where there are no lanes
};

struct ValueCode;
struct ConstantCode {
    double value;
};
struct IntegerCode {
    IndexCode value;
    int64_t lane_stride;
};
struct LoadCode {
    ElementCode from;
    struct Guard {
        IndexCode coordinate, extent;
        int64_t lane_stride;
    };
    std::vector<Guard> guards;
    double outside;
};
struct AccumulatorCode {
    size_t accumulator;
    bool fold_lanes;
};
struct ApplyCode {
    Function function;
    bool is_exact;  ///< of integers; else of floats, and rounded
    std::vector<ValueCode> arguments;
};
struct RoundCode {
    ElementType to;
    std::vector<ValueCode> argument;  ///< one
};
struct ValueCode {
    std::variant<ConstantCode, IntegerCode, LoadCode, AccumulatorCode, ApplyCode, RoundCode> node;
    NumberKind kind = NumberKind::kFloat;
    bool has_lanes = false;
};

struct StatementCode;
using BodyCode = std::vector<StatementCode>;

struct ForCode {
    size_t slot;
    Variable variable;
    IndexCode begin, end;
    int64_t step;
    int64_t lanes;  ///< 0: no loop over lanes
    BodyCode body;
};
struct LetCode {
    size_t slot;
    Variable variable;
    IndexCode value;
};
struct IfCode {
    ValueCode condition;
    BodyCode body;
};
struct StoreCode {
    ElementCode to;
    ValueCode value;
};
struct DeclareCode {
    size_t accumulator;
};
struct AccumulateCode {
    size_t accumulator;
    ValueCode value;
    std::vector<ValueCode> condition;  ///< one or none
};
struct TileCode {
    size_t storage;
};
struct FillCode {
    ElementCode to;
    IndexCode count;
    double value;
};
struct StatementCode {
    std::variant<ForCode, LetCode, IfCode, StoreCode, DeclareCode, AccumulateCode, TileCode, FillCode> node;
};

struct KernelCode {
    const Kernel* kernel;
    size_t variables = 0;                       ///< slots
    std::vector<Declare> accumulators;          ///< by number
    std::vector<LocalTile> tiles;               ///< storages behind those of the kernel's buffers
    std::vector<IndexCode> repetition_strides;  ///< of the buffers
    BodyCode body;
};

/// Slots of the variables that every kernel has: the worker, then the symbols.
std::map<std::string, size_t> program_slots(const Program& program);

/// @pre verify finds no fault in the program
KernelCode kernel_code(const Program& program, const Kernel& kernel);

}  // namespace tessera::movement
