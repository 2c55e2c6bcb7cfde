#pragma once

#include "tessera/generation.h"

namespace CLI {
class App;
}

namespace tessera::cli {

struct SamplingFlags {
    SamplingOptions options;
    bool is_seed_drawn = false;  ///< --seed -1: nobody knows it but by being told
};

/// --temperature, what belongs to it, penalties and biases. `flags` must outlive the parsing.
void add_sampling_flags(CLI::App& app, SamplingFlags& flags);

}  // namespace tessera::cli
