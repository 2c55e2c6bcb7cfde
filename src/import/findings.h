#pragma once

#include <string>
#include <vector>

namespace tessera::import {

/// What an import finds besides the model: all of it is reported at once.
struct Findings {
    std::vector<std::string> unsupported;  ///< what Tessera cannot compute, or what is wrong with the tensors
    /// What the user must know because it changes nothing in what is computed, and perhaps should. Every verb
    /// that computes says it: the manifest of an artefact keeps it.
    std::vector<std::string> warnings;
};

}  // namespace tessera::import
