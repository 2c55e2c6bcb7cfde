#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cli/serve/api_error.h"
#include "tessera/chat.h"
#include "tessera/embedding.h"
#include "tessera/generation.h"
#include "tessera/grammar.h"

/// The bodies of requests. All functions are pure: text in, values out.
namespace tessera::serve {

/// A prompt as text, or as the ids of its tokens.
using Prompt = std::variant<std::string, std::vector<TokenId>>;

/// The common fields of /v1/completions and /v1/chat/completions.
struct TextRequest {
    int64_t choices = 1;  ///< of each prompt
    std::optional<int64_t> max_tokens;
    SamplingOptions sampling = {.temperature = 1};
    std::optional<uint64_t> seed;  ///< unset: the server draws one
    std::vector<std::string> stop;
    std::optional<Grammar> grammar;  ///< of `response_format` or `grammar`
    bool streams = false;
    bool includes_usage = false;       ///< of a stream: a last chunk with the counts of tokens
    std::optional<int64_t> likeliest;  ///< log probabilities are wanted, with this many alternatives
};

struct CompletionRequest {
    TextRequest text;
    std::vector<Prompt> prompts;  ///< at least one; each gets choices of its own
    bool echoes = false;          ///< the answers begin with their prompts
};

struct ChatRequest {
    TextRequest text;
    std::vector<ChatMessage> messages;  ///< at least one
    std::vector<Tool> tools;            ///< that the answer may call
    ToolChoice tool_choice;
    std::optional<bool> thinks;  ///< ChatSettings::thinks
};

struct EmbeddingRequest {
    std::vector<Prompt> inputs;         ///< at least one; each gets an embedding of its own
    std::optional<Pooling> pooling;     ///< unset: as the model says
    bool is_base64 = false;             ///< the numbers come as base64 of little-endian F32
    std::optional<int64_t> dimensions;  ///< that the client expects
    std::optional<bool> normalises;     ///< EmbedOptions::normalise
    bool truncates = false;             ///< what is too long is cut at its end
};

/// The limit of OpenAI on the prompts of one request, counted for each choice.
inline constexpr size_t kMostPrompts = 2048;

/// @throws ApiError with status 400 for a body that is no such request, has an unknown field, or asks for
/// something that the server does not have, such as images
/// @param usual  the options of sampling that a request does not set
CompletionRequest parse_completion(std::string_view body, const SamplingOptions& usual = {.temperature = 1});
ChatRequest parse_chat(std::string_view body, const SamplingOptions& usual = {.temperature = 1});
EmbeddingRequest parse_embedding(std::string_view body);

}  // namespace tessera::serve
