#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/serve/api_error.h"
#include "tessera/engine.h"

/// The parts of OpenAI's answers.
namespace tessera::serve {

/// A token as text: itself if it is whole characters, else "bytes:\xf0\x9f".
std::string token_text(const std::string& bytes);

/// The characters of a text, or of parts of it one after the other: every byte that begins one counts.
int64_t count_characters(std::string_view bytes);

/// `logprobs` of a completion: lists of tokens, of their log probabilities, of alternatives by text, among
/// them the token itself, and of the characters before each. `offset`: characters before the first.
nlohmann::ordered_json completion_logprobs(const std::vector<TokenReport>& tokens, int64_t& offset);
/// `logprobs` of a chat.
nlohmann::ordered_json chat_logprobs(const std::vector<TokenReport>& tokens);

/// "stop" where the model or a stop string ended the text, "length" where there was no room, "tool_calls"
/// where functions are to be called.
const char* finish_reason(StopReason reason, bool has_calls = false);

/// The id of the next call of an answer. `number`: drawn for the answer, and changed.
std::string next_call_id(uint64_t& number);

/// The answer to a text that failed, was late or was interrupted.
std::optional<ApiError> error_of(const EngineEnd& end);

struct Usage {
    int64_t prompt_tokens = 0;
    int64_t reused_tokens = 0;
    int64_t completion_tokens = 0;
};
nlohmann::ordered_json json_of(const Usage& usage);

}  // namespace tessera::serve
