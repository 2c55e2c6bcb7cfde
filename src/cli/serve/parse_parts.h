#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "cli/serve/parse_request.h"
#include "support/json.h"

/// Parts of bodies that several endpoints have. All functions throw ApiError, or Error as JsonCursor does.
namespace tessera::serve {

/// Alternatives of each token; OpenAI has 5 of completions and 20 of chats.
inline constexpr int64_t kMostLikeliest = 20;

/// A text, its ids, or a list of either.
std::vector<Prompt> read_prompts(const JsonCursor& field);
ChatMessage read_message(const JsonCursor& item);
/// The tools of a chat whose text is read already. `body`: as of read_tools.
void read_chat_tools(const JsonCursor& root, std::string_view body, ChatRequest& request);
/// `logprobs` and `top_logprobs` of a chat: TextRequest::likeliest.
std::optional<int64_t> read_likeliest(const JsonCursor& root);

}  // namespace tessera::serve
