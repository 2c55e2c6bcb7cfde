#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "run/llm/file_source.h"
#include "run/llm/tokenizer_parts.h"
#include "tessera/error.h"

namespace tessera::llm {

/// The contents of the files beside a vocabulary: `tokenizer_config.json`, `special_tokens_map.json`,
/// `added_tokens.json`, `generation_config.json`, `config.json`. Each may be absent. As in
/// `transformers` 5.24 the second and the third count where the first has no `added_tokens_decoder`, and the
/// second one's tokens then before those of the first.
struct TokenizerConfig {
    std::string tokenizer_class;  ///< without "Fast"; empty if not said
    std::string model_type;       ///< of config.json; empty if not said
    /// Tokens with a role by its name: "bos_token", "image_token". Ids are not known.
    std::map<std::string, AddedToken, std::less<>> named_tokens;
    std::vector<AddedToken> more_special_tokens;  ///< those without a role; likewise
    std::optional<bool> add_bos_token;
    std::optional<bool> add_eos_token;
    std::optional<bool> add_prefix_space;
    std::optional<bool>
        legacy;  ///< of SentencePiece: every stretch between added tokens is a text of its own
    std::vector<AddedToken> added_tokens;
    bool has_decoder = false;  ///< they come from `added_tokens_decoder`, with flags
    /// Between the lists of added tokens: it matters where these are all that there is.
    std::optional<Error> conflict;
    /// The tokens that a user cannot spell in a conversation, besides special ones, where the file lists
    /// them.
    std::optional<std::vector<std::string>> chat_control_tokens;
    std::optional<TokenId> bos_id;
    std::vector<TokenId> eos_ids;  ///< all that the files name

    /// The text of a named token; empty where there is none.
    std::optional<std::string> token(std::string_view name) const;
};

/// @throws Error on a file that is there but wrong
TokenizerConfig read_tokenizer_config(FileSource& files);

/// Adds the special tokens of the files that no list of added tokens names, and flags those that one names.
/// Those that the vocabulary does not have either get the next ids in the order in which `transformers` adds
/// them.
void add_special_tokens(const TokenizerConfig& config, TokenizerParts& parts);

/// Sets `bos` and `eos` of the parts. If the files name no BOS, it is the first token of a text's prefix.
void set_special_ids(const TokenizerConfig& config, TokenizerParts& parts);

}  // namespace tessera::llm
