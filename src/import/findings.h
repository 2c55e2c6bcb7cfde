#pragma once

#include <string>
#include <vector>

namespace tessera::import {

/// Findings of an import besides the model, all reported at once.
struct Findings {
    std::vector<std::string> unsupported;  ///< settings that Tessera cannot compute, or faults of the tensors
    /// Facts that do not change the computation, but perhaps should, so that the user must know them. Every
    /// verb that computes prints them: the manifest of an artefact keeps them.
    std::vector<std::string> warnings;
};

}  // namespace tessera::import
