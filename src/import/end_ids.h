#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "import/decoder_config.h"
#include "import/findings.h"

namespace tessera::import {

/// Adds those ids that the model can make to the ones that end a text. Files write "none" as -1 or 2^32 - 1:
/// such an id, and one beyond the vocabulary, becomes a warning that names `setting`.
void add_end_ids(std::span<const int64_t> ids, const std::string& setting, DecoderConfig& config,
                 Findings& findings);

/// The same warning for an id that has another purpose.
void check_token_id(int64_t id, const std::string& setting, const DecoderConfig& config, Findings& findings);

}  // namespace tessera::import
