#pragma once

#include <string>
#include <vector>

#include "run/llm/stated_sampling.h"
#include "tessera/generation.h"

namespace CLI {
class App;
}

namespace tessera::cli {

struct SamplingFlags {
    SamplingChoices choices;              ///< what the user has said of them
    SamplingOptions options;              ///< everything else: penalties, biases, the seed
    bool is_seed_drawn = false;           ///< --seed -1: nobody knows it but by being told
    std::vector<std::string> of_drawing;  ///< flags that were given and mean nothing without a temperature

    /// The options of the texts: those of the user, else those of the model, else `otherwise`.
    /// @throws Error of kind kUsage for one that is outside its range, or that has nothing to draw
    SamplingOptions decided(const llm::StatedSampling& model, const SamplingOptions& otherwise) const;
};

/// Defaults where neither the user nor the model says anything.
SamplingOptions usual_of_texts();
SamplingOptions usual_of_conversations();

/// --temperature, what belongs to it, penalties and biases. `flags` must outlive the parsing. `otherwise`:
/// for the help.
void add_sampling_flags(CLI::App& app, SamplingFlags& flags, const SamplingOptions& otherwise);

}  // namespace tessera::cli
