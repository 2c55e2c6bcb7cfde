#pragma once

#include "run/llm/tokenizer.h"
#include "support/json.h"

namespace tessera::llm {

/// The fields of an added token, which tokenizer.json and tokenizer_config.json share. @throws Error for a
/// field of another type
AddedToken read_added_token(const JsonCursor& token, TokenId id);

}  // namespace tessera::llm
