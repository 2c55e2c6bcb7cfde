#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "runtime/artefact.h"
#include "tessera/generation.h"

namespace tessera::llm {

/// How a model's files say that tokens are drawn: `generation_config.json` of a folder, or the keys
/// `general.sampling.*` of a GGUF file. All is neutral where they say nothing.
struct StatedSampling {
    SamplingChoices choices;
    std::string where;  ///< "generation_config.json", "general.sampling"; empty where nothing is stated
    /// What they ask for and Tessera does not do, or that is outside its range: "num_beams is 4".
    std::vector<std::string> not_followed;
};

/// Reads those of a model, a folder or a GGUF file. @throws Error for a file that cannot be read
StatedSampling read_stated_sampling(const std::filesystem::path& model);
/// Reads those of the files that an artefact carries.
StatedSampling read_stated_sampling(std::span<const runtime::NamedFile> files, const std::string& where);

/// The options of `base` with those that were chosen.
SamplingOptions with(SamplingOptions base, const SamplingChoices& choices);

/// The options that a model's files state. Where they say how tokens are drawn, what they leave open is
/// neutral (temperature 1, all tokens); else `otherwise` says it.
SamplingOptions decided(const StatedSampling& stated, const SamplingOptions& otherwise);

/// "temperature 0.6, top-k 20, top-p 0.95"; "the most probable tokens".
std::string describe(const SamplingOptions& options);

}  // namespace tessera::llm
