#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ir/definition.h"
#include "ir/element_type.h"
#include "movement/index.h"

/// The lowered program: every loop, load, store and micro-kernel call of one specialisation is explicit, all
/// addresses are offsets into named buffers. Emission prints it and decides nothing.
namespace tessera {

/// Element `offset` of a buffer; how elements of less than a byte lie says ir/element_type.h.
struct Address {
    std::string buffer;
    Index offset;
    ElementType element = ElementType::kF32;
};

// ---- values
// ----------------------------------------------------------------------------------------------------------

struct ValueExpr;
using ValuePtr = std::shared_ptr<const ValueExpr>;

/// Inside a VectorFor a load has lanes: consecutive elements (stride 1), `lane_stride` apart, or one for all
/// (0).
/// Elements of every type are widened to f32.
struct Load {
    Address from;
    int64_t lane_stride = 0;
    /// The load happens only where 0 <= coordinate < extent for each; elsewhere the value is `outside`.
    struct Guard {
        Index coordinate;
        Index extent;
    };
    std::vector<Guard> guards;
    double outside = 0;
};
/// An integer of iterators and symbols; `lane_stride` as above.
struct Integer {
    Index value;
    int64_t lane_stride = 0;
};
/// A declared accumulator; `fold_lanes` folds the lanes of a vector one.
struct AccumulatorRef {
    std::string name;
    bool fold_lanes = false;
};
struct ApplyValue {
    Function function;
    std::vector<ValuePtr> arguments;
};
/// To the nearest number of type `to`.
struct RoundValue {
    ElementType to;
    ValuePtr argument;
};
struct ValueExpr {
    std::variant<Number, Infinity, Integer, Load, AccumulatorRef, ApplyValue, RoundValue> node;
};

// ---- statements
// ------------------------------------------------------------------------------------------------------

struct Statement;
using Body = std::vector<Statement>;

struct For {
    Variable variable;
    Index begin, end;
    int64_t step = 1;
    Body body;
};
/// A constant of the body that follows.
struct Let {
    Variable variable;
    Index value;
};
/// `variable` runs over the starts of groups of `lanes`; the last group may be partial: its loads and stores
/// then touch the first elements only, and what it folds counts only there. The iterations are those of
/// `variable` x lanes.
struct VectorFor {
    Variable variable;
    Index begin, end;
    int64_t lanes = 1;
    Body body;
};
struct If {
    ValuePtr condition;
    Body body;
};
/// The value is rounded to the element type of the address.
struct Store {
    Address to;
    int64_t lane_stride = 0;
    ValuePtr value;
};
/// A scalar accumulator, or one of `lanes` lanes, that starts at the identity.
struct Declare {
    std::string name;
    Monoid monoid;
    int64_t lanes = 1;
};
struct Accumulate {
    std::string name;
    Monoid monoid;
    ValuePtr value;
    ValuePtr condition;  ///< counts only where it holds; null: everywhere
};
/// The factor B of a product as elements at fixed strides along two positions; the lanes lie side by side.
struct StridedFactor {
    Address start;
    Index outer, inner;  ///< from one position to the next, in elements
};
/// The factor B as a value that is computed where it is needed, such as quants times their scales: a group of
/// lanes at two positions, which are variables of its own.
struct ComputedFactor {
    Variable outer, inner;
    ValuePtr value;
};
using Factor = std::variant<StridedFactor, ComputedFactor>;

/// C[m, n] (+)= sum_k A[m, k] B[n, k]; strides in elements, n in groups of `lanes`, k in groups of `k_lanes`.
struct ContractCall {
    int64_t lanes, rows, groups;  ///< register block
    int64_t partial_sums = 1;     ///< of each row and group, which take the groups of k in turns
    int64_t prefetch = 0;         ///< bytes by which B is fetched ahead
    int64_t streams = 1;          ///< parts of n of which a block has a group each; 1, or `groups`
    int64_t panel_blocks = 0;     ///< blocks of rows for which B is widened by panels; 0: never
    int64_t k_lanes = 1;          ///< B[n, k] of a group lie side by side, those of one n first
    bool dot = false;             ///< the products of a group of k are added by one operation
    Address a, c;
    Factor b;  ///< outer: groups of n; inner: groups of k
    Index a_m, a_k, c_m, c_group;
    Index m, n, k;  ///< extents
    bool accumulate = false;
    bool b_is_padded = false;  ///< B's last group may be read whole
};
/// C[m, n] (+)= sum over blocks of k of scale[m, block] * (coefficient * sum_k A[m, k] (B[n, k] + zero)
/// + offset * sum_k A[m, k]); B as with k_lanes = 4. Strides in elements.
struct BlockContractCall {
    /// The coefficient as integer * rest, the latter shared by `block` neighbouring k.
    struct Fold {
        std::optional<ComputedFactor> integer;  ///< none: 1
        ComputedFactor rest;
        int64_t block;
    };
    int64_t lanes, rows, groups;       ///< register block; on a matrix unit no `rows`
    int64_t tile_rows = 0, depth = 0;  ///< of the tiles of a matrix unit; 0: by vectors
    int64_t prefetch = 0;              ///< bytes by which B is fetched ahead
    int64_t streams = 1;               ///< parts of n of which a block has a group each; 1, or `groups`
    int64_t panel_blocks = 0;          ///< blocks of rows for which B is spread by panels; 0: never
    int64_t block, a_block;            ///< k that share coefficient and offset; that share a scale of A
    int64_t zero;
    std::vector<Address> a;  ///< one address, or two: A is the first * radix + the second
    int64_t radix;
    Address a_scale, c;
    StridedFactor b;                       ///< outer: groups of n; inner: groups of 4 k
    ComputedFactor coefficient;            ///< outer: groups of n; inner: k
    std::optional<Fold> fold;              ///< likewise; where B may take the integers by panels
    std::optional<ComputedFactor> offset;  ///< likewise; none: 0
    Index a_m, scale_m, scale_block, c_m, c_group;
    Index m, n, k;  ///< extents
    bool accumulate = false;
};
/// C[m, n] (+)= sum_k A[m, k] B[n, k] of bf16 by a matrix unit whose tiles are `tile_rows` x `depth` of A and
/// `lanes` x `depth` of B. B as with k_lanes = 2, its last group may be read whole; or as without. Strides in
/// elements.
struct TileContractCall {
    int64_t lanes, tile_rows, depth;
    int64_t rows, groups;  ///< tiles of A and of B in registers
    Address a, c;
    Factor b;          ///< outer: groups of n; inner: k, or pairs of k
    bool is_in_pairs;  ///< B
    Index a_m, c_m, c_group;
    Index m, n, k;  ///< extents
    bool accumulate = false;
};
/// As ContractCall with lanes along k, folded at the end.
struct DotCall {
    int64_t lanes, rows, columns;
    Address a, c;
    Factor b;                      ///< outer: n; inner: groups of k
    Index a_m, a_group, c_m, c_n;  ///< `group`: from one group of lanes along k to the next
    Index m, n, k;
    bool accumulate = false;
};
/// One streaming-softmax step over a tile of scores (rows m, positions s; values along d in groups of
/// `lanes`).
struct StreamCall {
    int64_t lanes, rows, groups;
    int64_t tile_rows = 0, depth = 0;  ///< of the tiles of a matrix unit that adds the values; 0: by vectors
    int64_t prefetch = 0;              ///< bytes by which the values are fetched ahead
    int64_t panel_blocks = 0;  ///< blocks of rows for which the values are widened by panels; 0: never
    ElementType weights = ElementType::kF32;  ///< to which they are rounded
    bool dot = false;                         ///< weights and values are added in pairs by dot products
    std::string scores;                       ///< local tile, masked entries -inf
    int64_t scores_stride;
    Factor v;                  ///< outer: groups of d; inner: s
    Address max, sum, result;  ///< maxima and sums of the rows lie side by side
    Index result_m, result_group;
    Index m, s, d;
};
/// A local tile of a kernel's own (not a tensor of the graph).
struct LocalTile {
    std::string name;
    int64_t elements;
};
/// Sets `count` elements from `to` on.
struct Fill {
    Address to;
    Index count;
    double value;
};
struct Statement {
    std::variant<For, Let, VectorFor, If, Store, Declare, Accumulate, ContractCall, BlockContractCall,
                 TileContractCall, DotCall, StreamCall, LocalTile, Fill>
        node;
};

// ---- program
// ---------------------------------------------------------------------------------------------------------

enum class MemoryKind : uint8_t { kInput, kOutput, kConstant, kState, kArena };

/// What a kernel calls by name. Sizes and strides in bytes.
struct ProgramBuffer {
    std::string name;  ///< identifier in the emitted code
    std::string value;
    MemoryKind memory = MemoryKind::kArena;
    ElementType element = ElementType::kF32;
    int64_t position = 0;     ///< input, output, state: index in the manifest; constant, arena: byte offset
    int64_t bytes = 0;        ///< arena: at the upper bounds of the symbols; a tile's own
    Index repetition_stride;  ///< bytes from one repetition of the block to the next; 0 if all share it
    bool is_written = false;
    int64_t worker_stride = 0;  ///< bytes from one worker's copy to the next; 0 if all share it
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

/// What one operator of a kernel does to the storage of one value, as far as other workers are concerned.
struct WorkerAccess {
    std::string value;  ///< whose storage it is, views and in-place results followed
    std::string node;
    bool is_write = false;
    bool by_all = false;  ///< every worker makes it; else each in its trips of a division, or worker 0 alone
    std::vector<WorkerPart> parts;  ///< it stays within any one of these; sorted; empty: all elements
};

struct Kernel {
    std::string name;
    std::string comment;  ///< the nest, as planned
    std::vector<ProgramBuffer> buffers;
    Body body;
    bool barrier = false;  ///< all workers meet before it
    bool alone = false;    ///< worker 0 runs it
    std::vector<WorkerAccess> accesses;
};

struct ProgramBlock {
    std::string name;
    int64_t repeat = 1;
    std::vector<Kernel> kernels;
};

struct Program {
    std::string specialisation;
    int64_t workers = 1;
    std::vector<Variable> symbols;  ///< in the graph's order, bounds of the specialisation
    std::vector<ProgramBlock> blocks;
    int64_t arena_bytes = 0;
};

/// Readable text of the loops, for --dump.
std::string print(const Program& program);

}  // namespace tessera
