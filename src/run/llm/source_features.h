#pragma once

#include <span>
#include <vector>

#include "run/runtime/manifest.h"

namespace tessera::llm {

/// The numbers of all tokens of a source, as the step reads them, from its rows, one after the other.
/// @throws Error naming `where` for another number of rows than the model reads
std::vector<float> source_features(const runtime::Manifest::Features& form, std::span<const float> rows,
                                   const std::string& where);

}  // namespace tessera::llm
