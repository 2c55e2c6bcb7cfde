#pragma once

#include <cstdint>
#include <string>

#include "run/llm/session.h"
#include "run/runtime/artefact.h"

namespace tessera::llm {

/// Memory for running a compiled language model, in bytes, once every position of its context has been used.
/// The process itself (program, libraries, tokenizer) takes a few megabytes more.
struct MemoryNeed {
    int64_t weights = 0;          ///< mapped from the artefact: shared by all processes that run it
    int64_t cache = 0;            ///< all states, for `sequences` of `context` tokens
    int64_t cache_per_token = 0;  ///< of one sequence
    int64_t seats = 0;            ///< the part of `cache` that recurrences have, however long sequences are
    int64_t step = 0;             ///< intermediate buffers
    int64_t context = 0;          ///< tokens of one sequence
    int64_t sequences = 1;

    int64_t total() const { return weights + cache + step; }
};

/// The need by the manifest alone, before anything is allocated or read.
/// @throws Error if the manifest is no language model's or does not allow the options.
MemoryNeed memory_need(const runtime::Manifest& manifest, const SessionOptions& options);
/// The need of all ranks of this process together.
MemoryNeed memory_need(const runtime::Artefact& artefact, const SessionOptions& options);

/// The most tokens of one sequence whose need stays within `available` bytes; 0 if there is none.
int64_t largest_context(const runtime::Manifest& manifest, const MemoryNeed& need, int64_t available);

/// @throws Error with the numbers and the largest context that fits if the need exceeds `available`.
void check_fits(const runtime::Manifest& manifest, const MemoryNeed& need, int64_t available);

/// "weights 2.39 GB mapped, cache 28.7 kB per token x 512, step buffers 12 MB; up to 8192 tokens fit
/// into 16.5 GB"
std::string describe(const runtime::Manifest& manifest, const MemoryNeed& need, int64_t available);

/// The type of keys and values: "bf16", "q8_0".
std::string cache_type(const runtime::Manifest& manifest);

/// 2388393984 -> "2.39 GB": three digits, decimal units.
std::string bytes_text(int64_t bytes);

}  // namespace tessera::llm
