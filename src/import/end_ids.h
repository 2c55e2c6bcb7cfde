#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "import/findings.h"
#include "import/model_config.h"

namespace tessera::import {

/// Adds those ids that the model can make to the ones that end a text. Files write "none" as -1 or 2^32 - 1:
/// such an id, and one beyond the vocabulary, becomes a warning that names `setting`.
void add_end_ids(std::span<const int64_t> ids, const std::string& setting, ModelConfig& config,
                 Findings& findings);

/// The same warning for an id that has another purpose.
void check_token_id(int64_t id, const std::string& setting, const ModelConfig& config, Findings& findings);

}  // namespace tessera::import
