#pragma once

#include <string>
#include <vector>

#include "tessera/model.h"

namespace tessera::cli {

/// On stderr, a line each: what the user of a model must know of its checkpoint.
void print_warnings(const std::string& model, const std::vector<std::string>& warnings);

/// On stderr, before the model is loaded: its warnings, and what running it will take.
void announce_model(const ModelFile& file, const ModelSettings& settings);

}  // namespace tessera::cli
