#include "cli/serve/answer_json.h"

#include <algorithm>

#include <fmt/core.h>

#include "support/printable.h"
#include "tessera/tools.h"

namespace tessera::serve {
namespace {

using Json = nlohmann::ordered_json;

Json byte_list(const std::string& bytes) {
    Json list = Json::array();
    for (const char byte : bytes) list.push_back(static_cast<unsigned char>(byte));
    return list;
}

Json number_or_null(const std::optional<double>& number) {
    return number ? Json(*number) : Json(nullptr);
}

}  // namespace

int64_t count_characters(std::string_view bytes) {
    return std::count_if(bytes.begin(), bytes.end(),
                         [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; });
}

std::string token_text(const std::string& bytes) {
    if (valid_utf8(bytes) == bytes) return bytes;
    std::string text = "bytes:";
    for (const char byte : bytes) text += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
    return text;
}

Json completion_logprobs(const std::vector<TokenReport>& tokens, int64_t& offset) {
    Json texts = Json::array(), values = Json::array(), alternatives = Json::array(), offsets = Json::array();
    for (const TokenReport& token : tokens) {
        const std::string own = token_text(token.bytes);
        texts.push_back(own);
        values.push_back(number_or_null(token.log_probability));
        // One that goes on inside a character lies where that character does.
        const bool begins_inside =
            offset > 0 && !token.bytes.empty() && count_characters(token.bytes.substr(0, 1)) == 0;
        offsets.push_back(offset - (begins_inside ? 1 : 0));
        offset += count_characters(token.bytes);
        Json likeliest = token.log_probability ? Json::object() : Json(nullptr);
        for (const TokenProbability& other : token.likeliest)
            likeliest.emplace(token_text(other.bytes), other.log_probability);
        // Clients look the token up there, however unlikely it is. It replaces another one of the same text.
        if (token.log_probability) likeliest[own] = *token.log_probability;
        alternatives.push_back(std::move(likeliest));
    }
    return {{"tokens", std::move(texts)},
            {"token_logprobs", std::move(values)},
            {"top_logprobs", std::move(alternatives)},
            {"text_offset", std::move(offsets)}};
}

Json chat_logprobs(const std::vector<TokenReport>& tokens) {
    Json content = Json::array();
    for (const TokenReport& token : tokens) {
        Json likeliest = Json::array();
        for (const TokenProbability& other : token.likeliest)
            likeliest.push_back({{"token", token_text(other.bytes)},
                                 {"logprob", other.log_probability},
                                 {"bytes", byte_list(other.bytes)}});
        content.push_back({{"token", token_text(token.bytes)},
                           {"logprob", number_or_null(token.log_probability)},
                           {"bytes", byte_list(token.bytes)},
                           {"top_logprobs", std::move(likeliest)}});
    }
    return {{"content", std::move(content)}, {"refusal", nullptr}};
}

const char* finish_reason(StopReason reason, bool has_calls) {
    // A stop string may cut a call, which is then none.
    if (has_calls && (reason == StopReason::kStopId || reason == StopReason::kComplete)) return "tool_calls";
    const bool is_whole =
        reason == StopReason::kStopId || reason == StopReason::kStopString || reason == StopReason::kComplete;
    return is_whole ? "stop" : "length";
}

std::string next_call_id(uint64_t& number) {
    // Apart by the golden ratio, numbers have other digits.
    number += 0x9e3779b97f4a7c15u;
    return tool_call_id(number);
}

std::optional<ApiError> error_of(const EngineEnd& end) {
    if (end.fault) return ApiError{.status = 500, .message = end.fault->what()};
    if (end.is_late)
        return ApiError{.status = 504, .message = "the request took longer than the server allows"};
    if (end.reason == StopReason::kInterrupted)
        return ApiError{.status = 503, .message = "the server stops", .retry_after = 1};
    return std::nullopt;
}

Json json_of(const Usage& usage) {
    return {{"prompt_tokens", usage.prompt_tokens},
            {"completion_tokens", usage.completion_tokens},
            {"total_tokens", usage.prompt_tokens + usage.completion_tokens},
            {"prompt_tokens_details", {{"cached_tokens", usage.reused_tokens}}}};
}

}  // namespace tessera::serve
