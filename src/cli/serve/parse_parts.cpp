#include "cli/serve/parse_parts.h"

#include <limits>
#include <string>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/serve/parse_fields.h"
#include "cli/serve/read_tools.h"

namespace tessera::serve {
namespace {

std::vector<TokenId> read_ids(const JsonCursor& field) {
    std::vector<TokenId> ids;
    for (const JsonCursor& item : field.items())
        ids.push_back(static_cast<TokenId>(whole_number(item, 0, std::numeric_limits<TokenId>::max())));
    return ids;
}

std::string read_content(const JsonCursor& field) {
    if (field.is_string()) return field.string();
    std::string text;
    for (const JsonCursor& part : field.items()) {
        const JsonCursor type = part.at("type");
        // A refusal is an assistant's text in place of an answer.
        if (type.string() != "text" && type.string() != "refusal")
            refuse_field(type, "the model reads text alone");
        text += part.at(type.string()).string();
        (void)part.find("prompt_cache_breakpoint");
    }
    return text;
}

}  // namespace

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

ChatMessage read_message(const JsonCursor& item) {
    const JsonCursor role = item.at("role");
    ChatMessage message{.role = role.string(), .content = {}};
    if (message.role == "developer") message.role = "system";
    if (message.role == "function")
        refuse_field(role, "is deprecated, and not supported: send a message of the role tool");
    if (message.role != "system" && message.role != "user" && message.role != "assistant" &&
        message.role != "tool")
        role.fail_expected("system, user, assistant or tool");
    refuse_functions(item);
    if (message.role == "tool") message.tool_call_id = item.at("tool_call_id").string();
    if (const auto calls = item.find("tool_calls"); calls && !calls->is_empty()) {
        if (message.role != "assistant") calls->fail("is for messages of the role assistant");
        message.tool_calls = read_tool_calls(*calls);
    }
    for (const char* name : {"audio", "annotations", "reasoning_content"}) (void)item.find(name);
    const auto refusal = item.find("refusal");
    const auto content = item.find("content");
    // An assistant that calls functions need not say anything.
    if (content || message.tool_calls.empty())
        message.content = !content && refusal ? refusal->string() : read_content(item.at("content"));
    const auto name = item.find("name");
    if (name && message.tool_calls.empty() && message.tool_call_id.empty())
        message.fields =
            nlohmann::json{{"role", message.role}, {"content", message.content}, {"name", name->string()}}
                .dump();
    return message;
}

void read_chat_tools(const JsonCursor& root, std::string_view body, ChatRequest& request) {
    ToolRequest tools = read_tools(root, body);
    request.tools = std::move(tools.tools);
    request.tool_choice = std::move(tools.choice);
    if (!request.tools.empty() && request.text.grammar && request.tool_choice.use != ToolChoice::Use::kNone)
        refuse_field(root.at("tools"),
                     "beside a format or grammar of the text: leave it out, or set tool_choice to \"none\"");
}

std::optional<int64_t> read_likeliest(const JsonCursor& root) {
    const bool wants = root.boolean_or("logprobs", false);
    const auto count = root.find("top_logprobs");
    const int64_t likeliest = count ? whole_number(*count, 0, kMostLikeliest) : 0;
    if (likeliest > 0 && !wants) count->fail("needs logprobs to be true");
    return wants ? std::optional(likeliest) : std::nullopt;
}

}  // namespace tessera::serve
