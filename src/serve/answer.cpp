#include "serve/answer.h"

#include <utility>

#include "support/printable.h"

namespace tessera::serve {
namespace {

using Json = nlohmann::ordered_json;

std::string event(const Json& json) {
    return "data: " + json.dump() + "\n\n";
}

}  // namespace

Reply reply_of(const ApiError& error, Api api) {
    Reply reply{.status = error.status, .body = print(error, api)};
    if (error.retry_after > 0) reply.headers.emplace_back("Retry-After", std::to_string(error.retry_after));
    if (!error.allow.empty()) reply.headers.emplace_back("Allow", error.allow);
    if (error.status == 401) reply.headers.emplace_back("WWW-Authenticate", "Bearer");
    return reply;
}

Answer::Answer(AnswerForm form, ReplySink sink)
    : form_(std::move(form)),
      sink_(std::move(sink)),
      choices_(form_.prompts.size()),
      missing_(choices_.size()) {
    for (size_t i = 0; i < choices_.size(); ++i) choices_[i].offset = form_.prompts[i].characters;
}

Json Answer::frame(const char* object, Json choices) const {
    return {{"id", form_.id},
            {"object", object},
            {"created", form_.created},
            {"model", form_.model},
            {"choices", std::move(choices)}};
}

Json Answer::logprobs(Choice& choice) const {
    const std::vector<TokenReport> tokens = std::exchange(choice.tokens, {});
    if (!form_.has_logprobs) return nullptr;
    return form_.is_chat ? chat_logprobs(tokens) : completion_logprobs(tokens, choice.offset);
}

/// The role of a chat's answer, or the prompt that is echoed, come before the text.
void Answer::begin(size_t index) {
    Choice& choice = choices_[index];
    if (std::exchange(choice.has_begun, true)) return;
    if (!form_.streams) {
        choice.text = form_.prompts[index].echo;
    } else if (form_.is_chat) {
        const Json delta = {{"role", "assistant"}, {"content", ""}};
        sink_.piece(event(frame(
            "chat.completion.chunk",
            {{{"index", index}, {"delta", delta}, {"logprobs", nullptr}, {"finish_reason", nullptr}}})));
    } else if (!form_.prompts[index].echo.empty()) {
        send_chunk(index, form_.prompts[index].echo);
    }
}

void Answer::send_chunk(size_t index, const std::string& text) {
    Choice& choice = choices_[index];
    Json json = {{"index", index}};
    if (form_.is_chat)
        json["delta"] = text.empty() ? Json::object() : Json{{"content", valid_utf8(text)}};
    else
        json["text"] = valid_utf8(text);
    json["logprobs"] = logprobs(choice);
    json["finish_reason"] = choice.finish_reason == nullptr ? Json(nullptr) : Json(choice.finish_reason);
    sink_.piece(event(
        frame(form_.is_chat ? "chat.completion.chunk" : "text_completion", Json::array({std::move(json)}))));
}

void Answer::add_token(size_t choice, TokenReport token) {
    if (form_.has_logprobs) choices_[choice].tokens.push_back(std::move(token));
}

void Answer::add_text(size_t index, std::optional<TokenReport> token, const std::string& text) {
    if (has_failed_) return;
    begin(index);
    Choice& choice = choices_[index];
    if (token && form_.has_logprobs) choice.tokens.push_back(std::move(*token));
    if (!form_.streams)
        choice.text += text;
    else if (!text.empty())
        send_chunk(index, text);
}

Json Answer::whole_choice(size_t index) {
    Choice& choice = choices_[index];
    Json json = {{"index", index}};
    if (form_.is_chat)
        json["message"] = {{"role", "assistant"}, {"content", valid_utf8(choice.text)}, {"refusal", nullptr}};
    else
        json["text"] = valid_utf8(choice.text);
    json["logprobs"] = logprobs(choice);
    json["finish_reason"] = choice.finish_reason;
    return json;
}

void Answer::fail(const ApiError& error) {
    has_failed_ = true;
    if (!form_.streams) return sink_.whole(reply_of(error));
    sink_.piece("data: " + print(error) + "\n\n");
    sink_.end();
}

bool Answer::end(size_t index, const EngineEnd& end) {
    if (has_failed_) return false;
    if (const auto error = error_of(end)) {
        fail(*error);
        return false;
    }
    begin(index);
    choices_[index].finish_reason = finish_reason(end.reason);
    if (!form_.prompts[index].is_repeated) {
        usage_.prompt_tokens += end.prompt_tokens;
        usage_.reused_tokens += end.reused_tokens;
    }
    usage_.completion_tokens += end.generated_tokens;
    if (form_.streams) send_chunk(index, "");
    return --missing_ == 0;
}

size_t Answer::bytes() const {
    constexpr size_t kOfToken = 64;
    size_t bytes = 0;
    for (const Choice& choice : choices_) {
        bytes += choice.text.size();
        for (const TokenReport& token : choice.tokens) bytes += kOfToken * (2 + token.likeliest.size());
    }
    return bytes;
}

void Answer::finish() {
    if (form_.streams) {
        if (form_.includes_usage) {
            Json last = frame(form_.is_chat ? "chat.completion.chunk" : "text_completion", Json::array());
            last["usage"] = json_of(usage_);
            sink_.piece(event(last));
        }
        sink_.piece("data: [DONE]\n\n");
        return sink_.end();
    }
    Json choices = Json::array();
    for (size_t i = 0; i < choices_.size(); ++i) choices.push_back(whole_choice(i));
    Json whole = frame(form_.is_chat ? "chat.completion" : "text_completion", std::move(choices));
    whole["usage"] = json_of(usage_);
    sink_.whole({.body = whole.dump()});
}

}  // namespace tessera::serve
