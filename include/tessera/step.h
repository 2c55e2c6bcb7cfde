#pragma once

#include <cstdint>

/// What the run time hands to the generated code for one step. All arrays are in the order of the manifest.
struct TesseraStep {
    const int64_t* symbols;     ///< values of the graph's symbols, within the bounds of the specialisation
    const void* const* inputs;  ///< row-major, shapes as in the manifest at these symbols
    void* const* outputs;       ///< row-major, given by the caller
    const unsigned char* constants;  ///< packed constants, 64-byte aligned, as the plan lays them out
    unsigned char* const*
        states;            ///< one buffer for each state: its repetitions one after the other, as laid out
    unsigned char* arena;  ///< intermediate buffers, 64-byte aligned, arena_bytes of the specialisation
    int64_t worker;        ///< who runs this: 0 to workers - 1; every one calls the same entry
    void (*meet)(void* team);  ///< returns when all workers have called it; not called if there is one worker
    void* team;                ///< its argument
};

/// One specialisation of the step. It reads what `step` points to and nothing else, and keeps nothing.
using TesseraStepFunction = void (*)(const TesseraStep* step);
