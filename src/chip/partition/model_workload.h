#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "chip/partition/workload.h"

namespace tessera::partition {

/// The kind of a decoder's step.
enum class Phase : uint8_t {
    kDecode,   ///< every sequence gets one more token, behind the others
    kPrefill,  ///< every sequence is read as a whole; the last token of each gets logits, the cache is stored
    kTraining,  ///< the forward pass of training: as prefill, all tokens get logits, and there is no cache
};
inline constexpr Phase kPhases[] = {Phase::kDecode, Phase::kPrefill, Phase::kTraining};
std::string_view name(Phase phase);
std::optional<Phase> phase_of(std::string_view name);

struct StepShape {
    int64_t batch = 32;               ///< sequences, or images
    std::optional<int64_t> sequence;  ///< positions of each, a multiple of 16; 2048 without it
    std::optional<Phase> phase;       ///< decode without it
};
inline constexpr int64_t kUsualSequence = 2048;

/// One step of the model that a HuggingFace config.json describes: a phase of a decoder, or a denoising step
/// of a diffusion transformer, which has neither phases nor sequences. No weights are needed.
///
/// The contents of the index inputs are known: every sequence has its own pages, one behind the other, and
/// all its positions count.
/// @throws Error naming what the importer does not support, or a shape that the model does not have.
Workload model_workload(const std::filesystem::path& config, const StepShape& shape,
                        const GraphPass& pass = {});

}  // namespace tessera::partition
