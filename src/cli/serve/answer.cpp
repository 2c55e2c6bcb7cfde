#include "cli/serve/answer.h"

#include <utility>

#include "support/printable.h"

namespace tessera::serve {
namespace {

using Json = nlohmann::ordered_json;

std::string event(const Json& json) {
    return "data: " + json.dump() + "\n\n";
}

/// A whole call.
Json json_of(const ToolCall& call) {
    return {{"id", call.id},
            {"type", "function"},
            {"function", {{"name", call.name}, {"arguments", valid_utf8(call.arguments)}}}};
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
        // An answer that may be calls alone has no text yet.
        const Json delta = {{"role", "assistant"},
                            {"content", form_.readers.empty() ? Json("") : Json(nullptr)}};
        sink_.piece(event(frame(
            "chat.completion.chunk",
            {{{"index", index}, {"delta", delta}, {"logprobs", nullptr}, {"finish_reason", nullptr}}})));
    } else if (!form_.prompts[index].echo.empty()) {
        send_text(index, form_.prompts[index].echo);
    }
}

void Answer::send_text(size_t index, const std::string& text) {
    if (!form_.is_chat) return send_chunk(index, valid_utf8(text));
    send_chunk(index, text.empty() ? Json::object() : Json{{"content", valid_utf8(text)}});
}

void Answer::send_chunk(size_t index, Json content) {
    Choice& choice = choices_[index];
    Json json = {{"index", index}, {form_.is_chat ? "delta" : "text", std::move(content)}};
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
    if (!form_.readers.empty())
        tell(index, form_.readers[index]->push(text));
    else
        tell(index, {.kind = AnswerEvent::Kind::kText, .text = text});
}

void Answer::tell(size_t index, const std::vector<AnswerEvent>& events) {
    for (const AnswerEvent& event : events) tell(index, event);
}

void Answer::tell(size_t index, const AnswerEvent& event) {
    using Kind = AnswerEvent::Kind;
    Choice& choice = choices_[index];
    if (event.kind == Kind::kCall) return begin_call(index, event.text);
    if (event.text.empty()) return;
    std::string& whole = event.kind == Kind::kText      ? choice.text
                         : event.kind == Kind::kThought ? choice.thought
                                                        : choice.calls.back().arguments;
    if (!form_.streams)
        whole += event.text;
    else if (event.kind == Kind::kText)
        send_text(index, event.text);
    else if (event.kind == Kind::kThought)
        send_chunk(index, {{"reasoning_content", valid_utf8(event.text)}});
    else
        send_chunk(index, {{"tool_calls",
                            {{{"index", choice.calls.size() - 1},
                              {"function", {{"arguments", valid_utf8(event.text)}}}}}}});
}

void Answer::begin_call(size_t index, const std::string& name) {
    std::vector<ToolCall>& calls = choices_[index].calls;
    calls.push_back({.id = next_call_id(form_.call_number), .name = name, .arguments = {}});
    if (!form_.streams) return;
    Json call = {{"index", calls.size() - 1}};
    call.update(json_of(calls.back()));
    send_chunk(index, {{"tool_calls", Json::array({std::move(call)})}});
}

Json Answer::whole_choice(size_t index) {
    Choice& choice = choices_[index];
    Json json = {{"index", index}};
    if (form_.is_chat) {
        const bool says_nothing = choice.text.empty() && !choice.calls.empty();
        Json message = {{"role", "assistant"},
                        {"content", says_nothing ? Json(nullptr) : Json(valid_utf8(choice.text))},
                        {"refusal", nullptr}};
        if (!choice.thought.empty()) message["reasoning_content"] = valid_utf8(choice.thought);
        for (const ToolCall& call : choice.calls) message["tool_calls"].push_back(json_of(call));
        json["message"] = std::move(message);
    } else
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
    if (!form_.readers.empty()) tell(index, form_.readers[index]->finish());
    choices_[index].finish_reason = finish_reason(end.reason, !choices_[index].calls.empty());
    if (!form_.prompts[index].is_repeated) {
        usage_.prompt_tokens += end.prompt_tokens;
        usage_.reused_tokens += end.reused_tokens;
    }
    usage_.completion_tokens += end.generated_tokens;
    if (form_.streams) send_text(index, "");
    return --missing_ == 0;
}

size_t Answer::bytes() const {
    constexpr size_t kOfToken = 64;
    size_t bytes = 0;
    for (const Choice& choice : choices_) {
        bytes += choice.text.size() + choice.thought.size();
        for (const ToolCall& call : choice.calls) bytes += call.arguments.size();
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
