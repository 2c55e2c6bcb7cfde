#pragma once

#include <filesystem>

/// The model that ships with the project, with weights in Q4_K and Q6_K, whose products are the hardest to
/// compute alike in every step, and with embeddings. Compiled once for all tests of the program, for the
/// machine that runs them.
namespace tessera::serve::testing {

std::filesystem::path shipped_artefact();

}  // namespace tessera::serve::testing
