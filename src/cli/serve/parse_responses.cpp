#include "cli/serve/parse_responses.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "cli/serve/parse_fields.h"
#include "cli/serve/parse_parts.h"
#include "cli/serve/read_grammar.h"
#include "cli/serve/read_tools.h"

namespace tessera::serve {
namespace {

using Json = nlohmann::ordered_json;

/// Fields that do not change an answer. `include` names parts of items that this server does not make, except
/// for the probabilities; `reasoning` sets how much is thought and shown of it; `max_tool_calls` limits calls
/// that OpenAI makes itself.
constexpr std::array<std::string_view, 3> kOfResponses = {"max_tool_calls", "reasoning", "stream_options"};
constexpr std::string_view kProbabilities = "message.output_text.logprobs";

std::string read_part(const JsonCursor& part) {
    const JsonCursor type = part.at("type");
    const std::string name = type.string();
    for (const char* unused : {"annotations", "logprobs"}) (void)part.find(unused);
    if (name == "refusal") return part.at("refusal").string();
    if (name != "input_text" && name != "output_text" && name != "text")
        refuse_field(type, "the model reads text alone");
    return part.at("text").string();
}

std::string read_parts(const JsonCursor& field) {
    if (field.is_string()) return field.string();
    std::string text;
    for (const JsonCursor& part : field.items()) text += read_part(part);
    return text;
}

ChatMessage read_item_message(const JsonCursor& item) {
    const JsonCursor role = item.at("role");
    ChatMessage message{.role = role.string(), .content = read_parts(item.at("content"))};
    if (message.role == "developer") message.role = "system";
    if (message.role != "system" && message.role != "user" && message.role != "assistant")
        role.fail_expected("system, developer, user or assistant");
    return message;
}

void read_input_item(const JsonCursor& item, std::vector<ChatMessage>& messages) {
    const auto type = item.find("type");
    const std::string name = type ? type->string() : "message";
    for (const char* unused : {"id", "status", "phase"}) (void)item.find(unused);
    if (name == "message") {
        messages.push_back(read_item_message(item));
    } else if (name == "reasoning") {
        // Earlier thoughts of a model are not part of a prompt.
        for (const char* unused : {"summary", "content", "encrypted_content"}) (void)item.find(unused);
    } else if (name == "function_call") {
        // Calls belong to one message, with the text that came before them.
        if (messages.empty() || messages.back().role != "assistant")
            messages.push_back({.role = "assistant", .content = {}});
        messages.back().tool_calls.push_back(
            {item.at("call_id").string(), item.at("name").string(), read_arguments(item.at("arguments"))});
    } else if (name == "function_call_output") {
        ChatMessage message{.role = "tool", .content = read_parts(item.at("output"))};
        message.tool_call_id = item.at("call_id").string();
        messages.push_back(std::move(message));
    } else if (name == "item_reference") {
        refuse_field(*type, "this server keeps no items: send the item itself");
    } else {
        refuse_field(*type, "only messages, reasoning and calls of functions are supported");
    }
}

std::vector<ChatMessage> read_input(const JsonCursor& root) {
    std::vector<ChatMessage> messages;
    if (const auto field = root.find("instructions"))
        messages.push_back({.role = "system", .content = read_parts(*field)});
    const JsonCursor input = root.at("input");
    if (input.is_string())
        messages.push_back({.role = "user", .content = input.string()});
    else
        for (const JsonCursor& item : input.items()) read_input_item(item, messages);
    if (messages.empty()) input.fail("is empty, expected a text or at least one message");
    return messages;
}

std::optional<Grammar> read_text_format(const JsonCursor& field, std::string_view body) {
    const JsonCursor type = field.at("type");
    const std::string name = type.string();
    if (name == "text") return std::nullopt;
    if (name == "json_object") return Grammar::json_object();
    if (name != "json_schema") type.fail_expected("text, json_object or json_schema");
    for (const char* unused : {"name", "description", "strict"}) (void)field.find(unused);
    return read_schema(field.at("schema"), body, {"text", "format", "schema"});
}

void refuse_kept(const JsonCursor& root) {
    for (const char* name : {"previous_response_id", "conversation"})
        if (const auto field = root.find(name))
            refuse_field(*field, "this server keeps no answers: send the whole conversation as `input`");
    if (const auto field = root.find("prompt"))
        refuse_field(*field, "this server keeps no prompts: send its text as `input`");
    if (const auto field = root.find("background"); field && field->boolean())
        refuse_field(*field, "this server keeps no answers: leave it out");
}

void refuse_cut(const JsonCursor& root) {
    if (const auto field = root.find("truncation"); field && field->string() != "disabled")
        refuse_field(*field, "a conversation that is too long is refused, and not cut: only \"disabled\"");
}

std::optional<int64_t> read_probabilities(const JsonCursor& root) {
    const auto count = root.find("top_logprobs");
    const int64_t likeliest = count ? whole_number(*count, 0, kMostLikeliest) : 0;
    bool wants = likeliest > 0;
    if (const auto include = root.find("include"))
        for (const JsonCursor& item : include->items()) wants = wants || item.string() == kProbabilities;
    return wants ? std::optional(likeliest) : std::nullopt;
}

TextRequest read_responses_text(const JsonCursor& root, std::string_view body, const SamplingOptions& usual) {
    TextRequest text{.sampling = usual};
    read_common_sampling(root, text.sampling);
    if (const auto field = root.find("seed")) text.seed = static_cast<uint64_t>(whole_number(*field));
    if (const auto field = root.find("max_output_tokens")) text.max_tokens = whole_number(*field, 1);
    if (const auto field = root.find("text")) {
        (void)field->find("verbosity");
        if (const auto format = field->find("format")) text.grammar = read_text_format(*format, body);
    }
    text.streams = root.boolean_or("stream", false);
    text.likeliest = read_probabilities(root);
    return text;
}

/// `store` is always false, since nothing is stored.
Json echo_of(const Json& body, const TextRequest& text) {
    Json echo = {{"background", false},
                 {"instructions", nullptr},
                 {"max_output_tokens", nullptr},
                 {"max_tool_calls", nullptr},
                 {"metadata", Json::object()},
                 {"parallel_tool_calls", true},
                 {"previous_response_id", nullptr},
                 {"prompt_cache_key", nullptr},
                 {"reasoning", {{"effort", nullptr}, {"summary", nullptr}}},
                 {"safety_identifier", nullptr},
                 {"service_tier", "default"},
                 {"temperature", text.sampling.temperature},
                 {"text", {{"format", {{"type", "text"}}}}},
                 {"tool_choice", "auto"},
                 {"tools", Json::array()},
                 {"top_logprobs", text.likeliest.value_or(0)},
                 {"top_p", text.sampling.top_p},
                 {"truncation", "disabled"},
                 {"user", nullptr}};
    for (auto& [name, value] : echo.items())
        if (const auto given = body.find(name); given != body.end() && !given->is_null()) value = *given;
    if (!echo["text"].contains("format")) echo["text"]["format"] = {{"type", "text"}};
    echo["service_tier"] = "default";
    echo["store"] = false;
    return echo;
}

}  // namespace

ResponsesRequest parse_responses(std::string_view body, const SamplingOptions& usual) {
    ResponsesRequest request;
    read_body(body, [&](const JsonCursor& root) {
        refuse_kept(root);
        refuse_cut(root);
        request.chat.text = read_responses_text(root, body, usual);
        request.chat.messages = read_input(root);
        read_chat_tools(root, body, request.chat);
        for (const std::string_view name : kOfResponses) (void)root.find(name);
    });
    request.echo = echo_of(Json::parse(body), request.chat.text);
    return request;
}

}  // namespace tessera::serve
