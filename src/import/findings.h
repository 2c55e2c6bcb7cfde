#pragma once

#include <string>
#include <vector>

namespace tessera {

/// What an import finds besides the model: all of it is reported at once.
struct Findings {
    std::vector<std::string> unsupported;  ///< what Tessera cannot compute, or what is wrong with the tensors
    std::vector<std::string> notes;        ///< worth knowing, changes nothing
};

}  // namespace tessera
