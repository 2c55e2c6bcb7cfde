#pragma once

#include <stdint.h>  // NOLINT: C includes this file, too

/// The arguments of the generated code for one step. All arrays are in the order of the manifest.
struct TesseraStep {
    const int64_t* symbols;     ///< values of the graph's symbols, within the bounds of the specialisation
    const void* const* inputs;  ///< row-major, with the manifest's shapes at these symbols
    void* const* outputs;       ///< likewise, in memory of the caller
    const unsigned char* constants;  ///< the section of packed constants, 64-byte aligned
    /// One buffer for each state, 64-byte aligned: its repetitions one after the other, in the stored layout.
    unsigned char* const* states;
    unsigned char* arena;      ///< intermediate buffers, 64-byte aligned: arena_bytes of the specialisation
    int64_t worker;            ///< number of the calling worker, 0 to workers - 1; all call the same entry
    void (*meet)(void* team);  ///< returns when all workers have called it; not called if there is one worker
    void* team;                ///< its argument
    /// For ranks that compute a step together: `parts` holds a part of `part_bytes` for each rank, the
    /// caller's own at its place; returns with those of all. Called by worker 0 of every rank, in one order.
    void (*gather)(void* ranks, unsigned char* parts, int64_t part_bytes);
    void* ranks;  ///< its argument
    /// Likewise: a part for each rank; returns with the part of each of them for the caller.
    void (*transpose)(void* ranks, unsigned char* parts, int64_t part_bytes);
    /// Likewise: `rows` rows, in which the part of rank r lies from byte starts[r] to starts[r + 1]. The
    /// caller's own is given; returns with the parts of all.
    void (*place)(void* ranks, unsigned char* whole, int64_t rows, const int64_t* starts);
    int64_t rank;  ///< of the caller: decides where its part of a tensor begins
};

/// The event that a worker marks.
enum TesseraMark
#ifdef __cplusplus
    : int64_t
#endif
{
    kTesseraWaits = 0,      ///< it arrives at the barrier before a kernel
    kTesseraComputes = 1,   ///< it begins a kernel
    kTesseraExchanges = 2,  ///< it begins to exchange the kernel's results with the other ranks
    kTesseraEnds = 3,       ///< it has done its part of the step
};

/// A step that is timed: all workers call `mark` with `marks`, their number, a kernel of the specialisation
/// in the order of execution, and a TesseraMark.
struct TesseraMarkedStep {
    struct TesseraStep step;
    void (*mark)(void* marks, int64_t worker, int64_t kernel, int64_t what);
    void* marks;
};

#ifdef __cplusplus

/// One specialisation of the step. It accesses only memory to which `step` points, and keeps nothing between
/// calls.
using TesseraStepFunction = void (*)(const TesseraStep* step);

/// The same specialisation with marks, and with the same results: the suffix of its entry's name.
inline constexpr const char* kTesseraMarkedSuffix = "_marked";
using TesseraMarkedStepFunction = void (*)(const TesseraMarkedStep* step);

#endif
