#pragma once

#include <optional>
#include <string>
#include <vector>

#include "run/llm/tokenizer_parts.h"
#include "support/json.h"

namespace tessera::llm {

/// The sections of a `tokenizer.json` that are chains of typed components. Each reader takes the section,
/// absent where the file has none, and collects the names of components that are not supported in
/// `unsupported`, so that they can be reported together; its result is complete only if that stayed empty.
/// Source: the serialisation of the `tokenizers` library by HuggingFace, version 1.0.
using Unsupported = std::vector<std::string>;

std::vector<NormalizerStep> read_normalizer(const std::optional<JsonCursor>& section,
                                            Unsupported& unsupported);
std::vector<PreTokenizerStep> read_pre_tokenizer(const std::optional<JsonCursor>& section,
                                                 Unsupported& unsupported);
TokenDecoder read_decoder(const std::optional<JsonCursor>& section, Unsupported& unsupported);

/// The tokens put around a text.
struct Affixes {
    std::vector<TokenId> prefix;
    std::vector<TokenId> suffix;
};
Affixes read_post_processor(const std::optional<JsonCursor>& section, Unsupported& unsupported);

}  // namespace tessera::llm
