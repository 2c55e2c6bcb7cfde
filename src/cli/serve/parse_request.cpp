#include "cli/serve/parse_request.h"

#include <algorithm>
#include <utility>

#include <fmt/ranges.h>

#include "cli/serve/parse_fields.h"
#include "cli/serve/parse_parts.h"
#include "cli/serve/read_tools.h"
#include "support/error.h"

namespace tessera::serve {

namespace {

/// A prompt that is null lets the model begin a text.
std::vector<Prompt> read_wanted_prompts(const JsonCursor& root) {
    const std::vector<std::string> given = root.keys();
    const auto prompt = root.find("prompt");
    if (!prompt && std::ranges::find(given, "prompt") != given.end()) return {std::string()};
    return read_prompts(root.at("prompt"));
}

}  // namespace

CompletionRequest parse_completion(std::string_view body, const SamplingOptions& usual) {
    CompletionRequest request;
    read_body(body, [&](const JsonCursor& root) {
        request.text = read_text_fields(root, body, usual);
        request.prompts = read_wanted_prompts(root);
        if (request.prompts.size() * static_cast<size_t>(request.text.choices) > kMostPrompts)
            root.at("n").fail(fmt::format("is {} for each of {} prompts, expected at most {} choices in all",
                                          request.text.choices, request.prompts.size(), kMostPrompts));
        if (const auto tools = root.find("tools"); tools && !tools->is_empty())
            refuse_field(*tools, "are for conversations: send the request to /v1/chat/completions");
        (void)root.find("tool_choice");
        request.echoes = root.boolean_or("echo", false);
        if (const auto field = root.find("logprobs"))
            request.text.likeliest = whole_number(*field, 0, kMostLikeliest);
    });
    return request;
}

ChatRequest parse_chat(std::string_view body, const SamplingOptions& usual) {
    ChatRequest request;
    read_body(body, [&](const JsonCursor& root) {
        request.text = read_text_fields(root, body, usual);
        const JsonCursor messages = root.at("messages");
        for (const JsonCursor& item : messages.items()) request.messages.push_back(read_message(item));
        if (request.messages.empty()) messages.fail("is empty, expected at least one message");
        read_chat_tools(root, body, request);
        request.text.likeliest = read_likeliest(root);
        if (const auto effort = root.find("reasoning_effort"); effort && effort->string() == "none")
            request.thinks = false;
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
