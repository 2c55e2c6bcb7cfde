#include "serve/parse_request.h"

#include <limits>
#include <utility>

#include <fmt/ranges.h>

#include "serve/parse_fields.h"
#include "support/error.h"

namespace tessera::serve {
namespace {

/// Alternatives of each token; OpenAI has 5 of completions and 20 of chats.
constexpr int64_t kMostLikeliest = 20;

std::vector<TokenId> read_ids(const JsonCursor& field) {
    std::vector<TokenId> ids;
    for (const JsonCursor& item : field.items())
        ids.push_back(static_cast<TokenId>(whole_number(item, 0, std::numeric_limits<TokenId>::max())));
    return ids;
}

/// A text, its ids, or a list of either.
std::vector<Prompt> read_prompts(const JsonCursor& field) {
    if (field.is_string()) return {field.string()};
    const std::vector<JsonCursor> items = field.items();
    if (items.empty()) field.fail("is empty, expected a text or ids");
    if (items.front().is_number()) return {read_ids(field)};
    if (items.size() > kMostPrompts)
        field.fail(fmt::format("has {} prompts, expected at most {}", items.size(), kMostPrompts));
    std::vector<Prompt> prompts;
    for (const JsonCursor& item : items) {
        if (item.is_string())
            prompts.emplace_back(item.string());
        else
            prompts.emplace_back(read_ids(item));
    }
    return prompts;
}

std::string read_content(const JsonCursor& field) {
    if (field.is_string()) return field.string();
    std::string text;
    for (const JsonCursor& part : field.items()) {
        const JsonCursor type = part.at("type");
        if (type.string() != "text") refuse_field(type, "the model reads text alone");
        text += part.at("text").string();
    }
    return text;
}

ChatMessage read_message(const JsonCursor& item) {
    const JsonCursor role = item.at("role");
    ChatMessage message{.role = role.string(), .content = {}};
    if (message.role == "developer") message.role = "system";
    if (message.role == "tool" || message.role == "function")
        refuse_field(role, "tools are not supported by this server");
    if (message.role != "system" && message.role != "user" && message.role != "assistant")
        role.fail_expected("system, user or assistant");
    for (const char* name : {"tool_calls", "function_call"})
        if (const auto calls = item.find(name); calls && !calls->is_empty())
            refuse_field(*calls, "tools are not supported by this server");
    for (const char* name : {"name", "refusal", "audio", "annotations", "reasoning_content"})
        (void)item.find(name);
    message.content = read_content(item.at("content"));
    return message;
}

}  // namespace

CompletionRequest parse_completion(std::string_view body) {
    CompletionRequest request;
    read_body(body, [&](const JsonCursor& root) {
        request.text = read_text_fields(root, body);
        request.prompts = read_prompts(root.at("prompt"));
        request.echoes = root.boolean_or("echo", false);
        if (const auto field = root.find("logprobs"))
            request.text.likeliest = whole_number(*field, 0, kMostLikeliest);
    });
    return request;
}

ChatRequest parse_chat(std::string_view body) {
    ChatRequest request;
    read_body(body, [&](const JsonCursor& root) {
        request.text = read_text_fields(root, body);
        const JsonCursor messages = root.at("messages");
        for (const JsonCursor& item : messages.items()) request.messages.push_back(read_message(item));
        if (request.messages.empty()) messages.fail("is empty, expected at least one message");
        const bool wants = root.boolean_or("logprobs", false);
        const auto count = root.find("top_logprobs");
        const int64_t likeliest = count ? whole_number(*count, 0, kMostLikeliest) : 0;
        if (likeliest > 0 && !wants) count->fail("needs logprobs to be true");
        if (wants) request.text.likeliest = likeliest;
        if (const auto field = root.find("chat_template_kwargs"))
            if (const auto thinks = field->find("enable_thinking")) request.thinks = thinks->boolean();
    });
    return request;
}

EmbeddingRequest parse_embedding(std::string_view body) {
    EmbeddingRequest request;
    read_body(body, [&](const JsonCursor& root) {
        request.inputs = read_prompts(root.at("input"));
        if (const auto field = root.find("encoding_format")) {
            const std::string format = field->string();
            if (format != "float" && format != "base64") field->fail_expected("float or base64");
            request.is_base64 = format == "base64";
        }
        if (const auto field = root.find("pooling")) {
            request.pooling = pooling_of(field->string());
            if (!request.pooling)
                field->fail_expected(fmt::format("one of {}", fmt::join(pooling_names(), ", ")));
        }
        if (const auto field = root.find("dimensions")) request.dimensions = whole_number(*field, 1, 1 << 24);
    });
    return request;
}

}  // namespace tessera::serve
