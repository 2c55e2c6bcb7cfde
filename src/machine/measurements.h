#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

/// Properties of a machine that are measured, never derived: all of them may be missing, and are for a
/// machine that does not exist. Rates are kept with two significant digits.
namespace tessera::machine {

/// Reads of one memory level, each thread of a part of its own.
struct ReadBandwidth {
    int64_t threads = 1;          ///< on as many cores
    double bytes_per_second = 0;  ///< of all threads together
    int64_t prefetch_bytes = 0;   ///< how far ahead software prefetched to reach it; 0: not at all
    bool operator==(const ReadBandwidth&) const = default;
};

/// The rate of a compute unit with its factors from one level.
struct UnitPeak {
    std::string level;                 ///< "registers" or the name of a memory level
    double operations_per_second = 0;  ///< of one core; a multiplication and an addition are two
    bool operator==(const UnitPeak&) const = default;
};

/// A meeting of threads that are all awake.
struct BarrierCost {
    int64_t threads = 2;
    double seconds = 0;
    bool operator==(const BarrierCost&) const = default;
};

/// The link between the ranks of a program on this machine (docs/ranks.md): a part of n bytes for each
/// other rank takes latency + n / bytes_per_second.
struct RankLink {
    int64_t ranks = 2;
    std::string transport;       ///< "memory" that processes share, or "mpi"
    double latency_seconds = 0;  ///< of an exchange of parts of no size
    double bytes_per_second = 0;
    bool operator==(const RankLink&) const = default;
};

/// One call of a micro-kernel on one core.
struct MicroKernelTime {
    std::string name;                           ///< as declared in lowering/kernels/micro_kernels.h
    std::map<std::string, std::string> types;   ///< "A": "f32", "B": "q8_0"
    std::map<std::string, int64_t> parameters;  ///< that are numbers: "rows": 12
    std::map<std::string, int64_t> sizes;       ///< of iterators: "m": 12
    std::map<std::string, int64_t> work;        ///< of `loops`: its work (cost/vector_work.h)
    std::string level;                          ///< where B comes from; A and C are near
    double seconds = 0;
    bool operator==(const MicroKernelTime&) const = default;
};

}  // namespace tessera::machine
