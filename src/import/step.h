#pragma once

#include <cstdint>
#include <string>

#include "ir/graph.h"

namespace tessera::import {

/// The limits of one step.
struct StepLimits {
    int64_t context = 0;       ///< positions of one sequence
    int64_t max_tokens = 512;  ///< new tokens of all sequences
    int64_t max_sequences = 16;
    bool has_source = false;  ///< sequences begin with a source text
    int64_t features = 0;     ///< numbers of each token that stand in its place; 0: none
};

/// The inputs of a step, which the run time fills. Symbols: T tokens, R rows, B sequences, I longest segment,
/// S cache extent of the longest sequence (a multiple of the page), P pages of the cache.
struct StepInputs {
    ValueId tokens;    ///< i32[T]
    ValueId position;  ///< i32[T], of each token in its sequence
    ValueId slot;      ///< i32[T], where each token's key and value go: page * 16 + offset
    ValueId rows;      ///< i32[R], tokens whose logits are wanted
    ValueId first;     ///< i32[B], first token of each sequence; its tokens are consecutive
    ValueId length;    ///< i32[B], number of its new tokens
    ValueId start;     ///< i32[B], number of its tokens that are cached already
    ValueId split;     ///< i32[B], tokens of the source text at the beginning; only where there is one
    ValueId features;  ///< f32[T, numbers of a token]; only where there are some
    ValueId page;  ///< i32[B, ceil(context / 16)]: where each 16 tokens of the sequence lie; only those below
                   ///< S are read
};

/// The seats of sequences: where the states of recurrences lie, those of an open sequence at one place as
/// long as it is open. A step without recurrences has none. Adds the symbol N, their number, and the input.
/// @return i32[B], the seat of each sequence
ValueId add_seats(Graph& graph);

/// A graph without blocks: symbols with their bounds, the points at which costs are evaluated (decode with
/// 512 and 4096 cached tokens, batches of 4 tokens, prefill of 16 and 512), and the inputs.
Graph start_step(const std::string& name, const StepLimits& limits, StepInputs& inputs);

}  // namespace tessera::import
