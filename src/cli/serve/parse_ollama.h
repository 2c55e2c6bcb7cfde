#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "cli/serve/parse_request.h"

/// The bodies of Ollama's requests, as those of OpenAI. All functions are pure: text in, values out.
namespace tessera::serve {

/// Fields that all of Ollama's requests have.
struct OllamaRequest {
    std::string model;               ///< with or without a tag
    std::optional<int64_t> context;  ///< `num_ctx`: tokens of prompt and text
    bool unloads = false;            ///< `keep_alive` is 0
};

struct OllamaChatRequest {
    OllamaRequest common;
    ChatRequest chat;  ///< without messages: the client only wants the model in memory
};

/// A prompt as one message of a conversation, or `raw`, as it is.
struct OllamaGenerateRequest {
    OllamaRequest common;
    std::variant<ChatRequest, CompletionRequest> request;  ///< without messages, or prompts: as above
};

struct OllamaEmbeddingRequest {
    OllamaRequest common;
    EmbeddingRequest embedding;  ///< without inputs: as above
};

/// @throws ApiError as parse_request.h, and for images, several models, and unsupported requests: other
/// templates, `context` of former answers, cutting or shifting of too long texts
OllamaChatRequest parse_ollama_chat(std::string_view body);
OllamaGenerateRequest parse_ollama_generate(std::string_view body);
OllamaEmbeddingRequest parse_ollama_embed(std::string_view body);
/// The body of the older endpoint: one text, whose embedding is not normalised.
OllamaEmbeddingRequest parse_ollama_embeddings(std::string_view body);
/// @return the name of the model
std::string parse_ollama_show(std::string_view body);

}  // namespace tessera::serve
