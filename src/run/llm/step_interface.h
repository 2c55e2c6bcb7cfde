#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "run/runtime/manifest.h"

namespace tessera::llm {

/// The places in a manifest of the parameters of a language model's step: the i32 inputs tokens[T],
/// position[T], slot[T], rows[R], first[B], length[B], start[B] page[B, pages of a sequence] and perhaps
/// split[B], the input f32 features[T, numbers of a token], and the output logits f32[R, vocabulary];
/// embedding models also give hidden states f32[R, width], in second place, and encoders these alone. There
/// are T tokens of B sequences, the longest segment has I of them, the longest sequence at most S including
/// its tokens in the cache of P pages; R rows are wanted.
struct StepInterface {
    enum Input {
        kTokens,
        kPosition,
        kSlot,
        kRows,
        kFirst,
        kLength,
        kStart,
        kPage,
        kSplit,
        kSeat,
        kFeatures,
        kInputs
    };
    enum Symbol { kT, kR, kB, kI, kS, kP, kN, kSymbols };

    /// @throws Error naming a parameter that the manifest lacks, or that no session can give.
    explicit StepInterface(const runtime::Manifest& manifest);

    int inputs[kInputs] = {};    ///< positions in the manifest; -1 for what nothing reads
    int symbols[kSymbols] = {};  ///< positions in the manifest; -1 if the model does not depend on it
    DimSymbol limits[kSymbols];  ///< without bounds if the model does not depend on it
    int64_t page_size;
    /// True if the model has recurrences, whose states are those behind the last token of a sequence alone.
    bool has_seats() const { return inputs[kSeat] >= 0; }
    int64_t vocabulary;
    bool has_source = false;  ///< a text is made of another, which is one segment
    bool is_encoder = false;  ///< hidden states are the only output, and a text is one segment
    int64_t hidden = 0;       ///< width of a hidden state; 0: the step does not give them
    int64_t context;          ///< the longest sequence that model, cache and page tables allow
};

/// Tokens of one sequence in one step.
struct Segment {
    std::span<const int32_t> tokens;
    int64_t start = 0;                     ///< tokens of the sequence before them
    int64_t split = 0;                     ///< tokens of its source; those behind count positions anew
    std::span<const int32_t> pages;        ///< of the sequence, enough for start + tokens.size()
    std::span<const int32_t> rows;         ///< positions in `tokens` whose logits are wanted
    int32_t seat = 0;                      ///< of the sequence, where the states of recurrences lie
    std::span<const float> features = {};  ///< of the tokens; none: zeros
};

/// The symbols and inputs of a step, in the manifest's order.
struct StepValues {
    std::vector<int64_t> symbols;
    std::vector<std::vector<int32_t>> inputs;  ///< the bits of those that are f32
    int64_t rows =
        0;  ///< of the logits; those of the segments come first, a row that nobody wants may follow
};

/// @pre `segments` is not empty and within the limits @param pages of the whole cache @param seats likewise
StepValues step_values(const runtime::Manifest& manifest, const StepInterface& step,
                       std::span<const Segment> segments, int64_t pages, int64_t seats = 1);

}  // namespace tessera::llm
