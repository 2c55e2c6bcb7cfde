#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "run/runtime/artefact.h"
#include "tessera/generation.h"

namespace tessera::llm {

/// The way that a model's files say tokens are drawn: `generation_config.json` of a folder, or the keys
/// `general.sampling.*` of a GGUF file. Neutral where they say nothing.
struct StatedSampling {
    SamplingChoices choices;
    std::string where;  ///< "generation_config.json", "general.sampling"; empty where nothing is stated
    /// Settings that Tessera does not support, or that are outside their range: "num_beams is 4".
    std::vector<std::string> not_followed;
};

/// Reads the sampling of a model, a folder or a GGUF file. @throws Error for a file that cannot be read
StatedSampling read_stated_sampling(const std::filesystem::path& model);
/// Reads the sampling from the files that an artefact carries.
StatedSampling read_stated_sampling(std::span<const runtime::NamedFile> files, const std::string& where);

/// The options of `base` with those that were chosen.
SamplingOptions with(SamplingOptions base, const SamplingChoices& choices);

/// The options that a model's files state. If they state how tokens are drawn, the rest is neutral
/// (temperature 1, all tokens); otherwise the result is `otherwise`.
SamplingOptions decided(const StatedSampling& stated, const SamplingOptions& otherwise);

/// "temperature 0.6, top-k 20, top-p 0.95"; "the most probable tokens".
std::string describe(const SamplingOptions& options);

}  // namespace tessera::llm
