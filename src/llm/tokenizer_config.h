#pragma once

#include <optional>
#include <string>
#include <vector>

#include "llm/file_source.h"
#include "llm/tokenizer_parts.h"

namespace tessera::llm {

/// The contents of the files beside a vocabulary: `tokenizer_config.json`, `generation_config.json`,
/// `config.json`. Each may be absent.
struct TokenizerConfig {
    std::string tokenizer_class;  ///< without "Fast"; empty if not said
    std::string model_type;       ///< of config.json; empty if not said
    std::optional<std::string> bos_token;
    std::optional<std::string> eos_token;
    std::optional<bool> add_bos_token;
    std::optional<bool> add_eos_token;
    std::optional<bool> add_prefix_space;
    std::vector<AddedToken> added_tokens;
    std::optional<TokenId> bos_id;
    std::vector<TokenId> eos_ids;  ///< all that the files name
};

/// @throws Error on a file that is there but wrong
TokenizerConfig read_tokenizer_config(FileSource& files);

/// Sets `bos` and `eos` of the parts. Where the files name no BOS, it is the first token of a text's prefix.
void set_special_ids(const TokenizerConfig& config, TokenizerParts& parts);

}  // namespace tessera::llm
