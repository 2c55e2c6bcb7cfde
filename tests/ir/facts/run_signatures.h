#pragma once

#include <string>
#include <vector>

#include "ir/definition.h"

namespace tessera::facts {

struct SignatureRun {
    int checked = 0;                  ///< signatures
    std::vector<std::string> broken;  ///< the untrue signatures
};

/// Runs every derived signature on two devices, as the zoo describes it, with several contents of the
/// operands: halves of an iterator with garbage in elements that a device does not hold (sbp), and parts that
/// add up to an operand (linear). The interpreter decides; an untrue signature is a bug of the derivation.
SignatureRun run_signatures(const DefinitionFile& file, const std::string& where);

}  // namespace tessera::facts
