#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "lowering/movement/call.h"
#include "lowering/movement/index.h"
#include "lowering/movement/value_expr.h"

/// The lowered program: every loop, load, store and micro-kernel call of one specialisation is explicit, all
/// addresses are offsets into named buffers. Emission prints it and decides nothing.
namespace tessera::movement {

// ---- statements
// ------------------------------------------------------------------------------------------------------

struct For {
    Variable variable;
    Index begin, end;
    int64_t step = 1;
    Body body;
    bool operator==(const For&) const = default;
};
/// Powers of two up to the largest.
inline constexpr int64_t kMostLanes = 64;
constexpr bool is_number_of_lanes(int64_t lanes) {
    return lanes >= 1 && lanes <= kMostLanes && (lanes & (lanes - 1)) == 0;
}

/// A constant of the body that follows.
struct Let {
    Variable variable;
    Index value;
    bool operator==(const Let&) const = default;
};
/// `variable` runs over the starts of groups of `lanes`; the last group may be partial: its loads, stores and
/// folds then concern the first elements only. The iterations are those of `variable` x lanes.
struct VectorFor {
    Variable variable;
    Index begin, end;
    int64_t lanes = 1;
    Body body;
    bool operator==(const VectorFor&) const = default;
};
struct If {
    ValuePtr condition;
    Body body;
    bool operator==(const If& other) const;
};
/// The value is rounded to the element type of the address.
struct Store {
    Address to;
    int64_t lane_stride = 0;
    ValuePtr value;
    bool operator==(const Store& other) const {
        return to == other.to && lane_stride == other.lane_stride && same(value, other.value);
    }
};
/// A scalar accumulator, or one of `lanes` lanes, that starts at the identity.
struct Declare {
    std::string name;
    Monoid monoid;
    int64_t lanes = 1;
    bool operator==(const Declare&) const = default;
};
struct Accumulate {
    std::string name;
    Monoid monoid;
    ValuePtr value;
    ValuePtr condition;  ///< counts only where it holds; null: everywhere
    bool operator==(const Accumulate& other) const {
        return name == other.name && monoid == other.monoid && same(value, other.value) &&
               same(condition, other.condition);
    }
};
/// A local tile of a kernel's own (not a tensor of the graph).
struct LocalTile {
    std::string name;
    int64_t elements;
    bool operator==(const LocalTile&) const = default;
};
/// Sets `count` elements from `to` on.
struct Fill {
    Address to;
    Index count;
    double value;
    bool operator==(const Fill&) const = default;
};
struct Statement {
    std::variant<For, Let, VectorFor, If, Store, Declare, Accumulate, Call, LocalTile, Fill> node;
    bool operator==(const Statement&) const = default;
};

inline bool If::operator==(const If& other) const {
    return same(condition, other.condition) && body == other.body;
}

// ---- program
// ---------------------------------------------------------------------------------------------------------

enum class MemoryKind : uint8_t { kInput, kOutput, kConstant, kState, kArena };
const char* name(MemoryKind kind);  ///< "input", ..

/// A buffer that a kernel refers to by name. Sizes and strides in bytes.
struct ProgramBuffer {
    std::string name;  ///< identifier in the emitted code
    std::string value;
    MemoryKind memory = MemoryKind::kArena;
    ElementType element = ElementType::kF32;
    int64_t position = 0;     ///< input, output, state: index in the manifest; constant, arena: byte offset
    int64_t bytes = 0;        ///< at the upper bounds of the symbols; of one repetition; a tile's own
    Index repetition_stride;  ///< bytes from one repetition of the block to the next; 0 if all share it
    bool is_written = false;
    int64_t worker_stride = 0;  ///< bytes from one worker's copy to the next; 0 if all share it
    bool operator==(const ProgramBuffer&) const = default;
};

/// Elements of a buffer that belong to a worker: those whose coordinate along `axis` of the stored value lies
/// in a group of `group` with worker = (coordinate div group) mod workers.
struct WorkerPart {
    int axis = 0;  ///< kFirstWorker: all of it is worker 0's; kCopyOfWorker: each has a copy
    int64_t group = 1;
    auto operator<=>(const WorkerPart&) const = default;
};
inline constexpr int kFirstWorker = -1;
inline constexpr int kCopyOfWorker = -2;

/// The access of one operator of a kernel to the storage of one value, as far as other workers are concerned.
struct WorkerAccess {
    std::string value;  ///< the owner of the storage, views and in-place results followed
    std::string node;
    bool is_write = false;
    bool by_all = false;  ///< every worker makes it; else each in its trips of a division, or worker 0 alone
    std::vector<WorkerPart> parts;  ///< it stays within any one of these; sorted; empty: all elements
    bool operator==(const WorkerAccess&) const = default;
};

struct Kernel {
    std::string name;
    std::string comment;  ///< the nest, as planned
    std::vector<ProgramBuffer> buffers;
    Body body;
    bool barrier = false;  ///< all workers meet before it
    bool alone = false;    ///< worker 0 runs it
    std::vector<WorkerAccess> accesses;
    /// The type of all its numbers: F32, or a number at a time, F64 or I64.
    ElementType arithmetic = ElementType::kF32;
    bool operator==(const Kernel&) const = default;
};

struct ProgramBlock {
    std::string name;
    int64_t repeat = 1;
    std::vector<Kernel> kernels;
    bool operator==(const ProgramBlock&) const = default;
};

/// The variable of every program with the number of the worker that runs it.
inline constexpr const char* kWorker = "worker";

struct Program {
    std::string specialisation;
    int64_t workers = 1;
    std::vector<Variable> symbols;  ///< in the graph's order, bounds of the specialisation
    std::vector<ProgramBlock> blocks;
    int64_t arena_bytes = 0;
    bool operator==(const Program&) const = default;
};

/// The whole program as readable text; parse_program.h reads it.
std::string print(const Program& program);

}  // namespace tessera::movement
