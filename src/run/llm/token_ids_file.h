#pragma once

#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "run/llm/tokenizer.h"

namespace tessera::llm {

/// Token ids from a JSON file: a list of them, or an object that has one under the first of these keys.
/// @throws Error if the file is neither, or an id is none.
std::vector<TokenId> read_token_ids(const std::filesystem::path& path,
                                    std::span<const std::string_view> keys);

/// The ids of a prompt: the keys are prompt_ids, ids, input_ids and tokens.
std::vector<TokenId> read_prompt_ids(const std::filesystem::path& path);

}  // namespace tessera::llm
