#pragma once

#include <filesystem>

#include "llm/tokenizer.h"

namespace tessera {

/// Reads the tokenizer of a model: a folder in HuggingFace form (`tokenizer.json`, or `vocab.json` with
/// `merges.txt`; `tokenizer_config.json`, `config.json` and `generation_config.json` add BOS and EOS where
/// present), a `tokenizer.json`, or a GGUF file. Weights are not touched.
/// @throws Error naming the missing file, or the component that is not supported.
Tokenizer load_tokenizer(const std::filesystem::path& path);

}  // namespace tessera
