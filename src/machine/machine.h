#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "machine/measurements.h"

namespace tessera::machine {

/// The compiler's view of a machine: data. The same value comes from a file of `machines/`, from a file that
/// a person wrote, or from the probe of the host; nothing else asks the CPU anything.

enum class Isa { kX86_64, kAArch64 };

/// The instruction set that this program was compiled for.
#if defined(__x86_64__)
inline constexpr Isa kHostIsa = Isa::kX86_64;
#elif defined(__aarch64__)
inline constexpr Isa kHostIsa = Isa::kAArch64;
#else
#error "Tessera runs on x86-64 and AArch64"
#endif

/// One level of the memory hierarchy, as one core sees it.
struct MemoryLevel {
    std::string name;                           ///< "L1", "L2", ..., "memory"
    int64_t capacity_bytes = 0;                 ///< of one instance
    int64_t shared_by_cores = 1;                ///< cores that share one instance
    std::optional<double> latency_seconds;      ///< of one dependent load; absent until measured
    std::vector<ReadBandwidth> read_bandwidth;  ///< by ascending threads; empty until measured
    bool operator==(const MemoryLevel&) const = default;
};

/// `factor` neighbouring elements along the axis named `axis`.
struct LaneAxis {
    char axis = 'i';
    int64_t factor = 1;
    bool operator==(const LaneAxis&) const = default;
};

/// How a unit wants one operand: an ordered list of axes, outermost first, in which an axis may occur twice.
/// AMX BF16 reads B as <k16, n16, k2>.
struct OperandLanes {
    std::string name;
    std::string type;             ///< element type as in the operator notation: "f32", "bf16"
    std::vector<LaneAxis> lanes;  ///< empty for a scalar
    bool operator==(const OperandLanes&) const = default;
};

enum class UnitKind { kScalar, kVector, kMatrix };

/// One compute unit of a core at one combination of element types.
struct ComputeUnit {
    std::string name;
    UnitKind kind = UnitKind::kScalar;
    std::vector<OperandLanes> operands;  ///< two factors and the result that they are accumulated into
    int64_t registers = 0;               ///< architectural registers (of a matrix unit: tiles)
    bool strided_rows = false;           ///< rows of an operand need not be contiguous in memory
    std::vector<UnitPeak> peaks;         ///< from the registers outwards; empty until measured
    bool operator==(const ComputeUnit&) const = default;
};

/// The C++ compiler of the machine and the features that it may use.
struct CompilerSettings {
    std::string command;  ///< name or absolute path; empty: the first of c++, g++, clang++ that is there
    std::vector<std::string> flags;  ///< explicit features, "-mavx2": never "native", which asks the CPU
    bool operator==(const CompilerSettings&) const = default;
};

struct Machine {
    std::string name;
    Isa isa = Isa::kX86_64;
    int64_t cores = 1;  ///< physical cores that the process may use
    int64_t cache_line_bytes = 64;
    std::vector<MemoryLevel> memory;  ///< from the registers outwards; the last one is the main memory
    std::vector<ComputeUnit> units;   ///< at least one vector unit with f32 operands
    CompilerSettings compiler;
    std::string measured_with;  ///< digest of the kernels and the compiler that were measured; may be empty
    std::vector<BarrierCost> barriers;           ///< by ascending threads; empty until measured
    std::vector<RankLink> rank_links;            ///< by transport and ranks; empty until measured
    std::vector<MicroKernelTime> micro_kernels;  ///< empty until measured
    bool operator==(const Machine&) const = default;
};

std::string_view name(Isa);
std::string_view name(UnitKind);

/// The first unit of this kind whose operands all have this element type; null where there is none.
const ComputeUnit* find_unit(const Machine&, UnitKind, std::string_view type);

/// The entry of the most threads among those of at most `threads`; null where there is none.
const ReadBandwidth* find_bandwidth(const MemoryLevel&, int64_t threads);

/// Between so many ranks; null where it was not measured. That of shared memory comes before that of MPI.
const RankLink* find_rank_link(const Machine&, int64_t ranks);

/// In the place of a link of the same ranks and transport, if there is one.
void set_rank_link(Machine&, RankLink);

/// Null where it was not measured.
const UnitPeak* find_peak(const ComputeUnit&, std::string_view level);

/// Operations per second from the level that feeds it best; 0 if that was not measured.
double peak(const ComputeUnit&);

/// Index of the level where the table's times of micro-kernels hold that wait for no memory: the second one,
/// which is a core's own; the only one where there are no more.
size_t near_level(const Machine&);

/// Lanes of the vector unit for f32: the width that layouts and micro-kernels of the machine are made for.
/// @pre the machine came from `parse_machine` or `probe_host`
int64_t vector_lanes(const Machine&);

/// Registers of that unit.
int64_t vector_registers(const Machine&);

/// Digest of the printed machine: two machines with one hash are the same to the compiler.
std::string content_hash(const Machine&);

}  // namespace tessera::machine
