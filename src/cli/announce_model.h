#pragma once

#include <string>
#include <vector>

#include "tessera/model.h"

namespace tessera::cli {

/// Prints on stderr, a line each, the warnings about a model's checkpoint.
void print_warnings(const std::string& model, const std::vector<std::string>& warnings);

/// Prints on stderr, before the model is loaded, its warnings and the memory for running it.
void announce_model(const ModelFile& file, const ModelSettings& settings);

}  // namespace tessera::cli
