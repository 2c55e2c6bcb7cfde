#include "cli/serve/responses_answer.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "support/printable.h"

namespace tessera::serve {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const EngineEnd& end, int64_t thought_tokens) {
    return {{"input_tokens", end.prompt_tokens},
            {"input_tokens_details", {{"cached_tokens", end.reused_tokens}}},
            {"output_tokens", end.generated_tokens},
            {"output_tokens_details", {{"reasoning_tokens", thought_tokens}}},
            {"total_tokens", end.prompt_tokens + end.generated_tokens}};
}

}  // namespace

ResponsesAnswer::ResponsesAnswer(ResponsesForm form, ReplySink sink)
    : form_(std::move(form)), sink_(std::move(sink)), logprobs_(Json::array()), output_(Json::array()) {}

void ResponsesAnswer::send(const std::string& type, const Json& fields) {
    if (!form_.streams) return;
    Json event = {{"type", type}, {"sequence_number", sequence_++}};
    event.update(fields);
    sink_.piece(fmt::format("event: {}\ndata: {}\n\n", type, event.dump()));
}

Json ResponsesAnswer::response(const char* status) const {
    Json whole = {{"id", "resp_" + form_.id}, {"object", "response"}, {"created_at", form_.created},
                  {"status", status},         {"error", nullptr},     {"incomplete_details", nullptr},
                  {"model", form_.model},     {"output", output_}};
    whole.update(form_.echo);
    whole["usage"] = nullptr;
    return whole;
}

Json ResponsesAnswer::place() const {
    Json place = {{"item_id", item("", false)["id"]}, {"output_index", output_.size()}};
    if (open_ != Item::kCall) place["content_index"] = 0;
    return place;
}

Json ResponsesAnswer::part() const {
    if (open_ == Item::kReasoning) return {{"type", "reasoning_text"}, {"text", valid_utf8(text_)}};
    return {{"type", "output_text"},
            {"text", valid_utf8(text_)},
            {"annotations", Json::array()},
            {"logprobs", logprobs_}};
}

Json ResponsesAnswer::item(const char* status, bool has_content) const {
    const char* const prefix = open_ == Item::kMessage ? "msg" : open_ == Item::kCall ? "fc" : "rs";
    Json json = {{"id", fmt::format("{}_{}_{}", prefix, form_.id, output_.size())}, {"status", status}};
    if (open_ == Item::kCall) {
        json["type"] = "function_call";
        json["call_id"] = call_id_;
        json["name"] = name_;
        json["arguments"] = has_content ? valid_utf8(text_) : "";
        return json;
    }
    json["type"] = open_ == Item::kMessage ? "message" : "reasoning";
    if (open_ == Item::kMessage)
        json["role"] = "assistant";
    else
        json["summary"] = Json::array();
    json["content"] = has_content ? Json::array({part()}) : Json::array();
    return json;
}

void ResponsesAnswer::begin() {
    if (std::exchange(has_begun_, true)) return;
    send("response.created", {{"response", response("in_progress")}});
    send("response.in_progress", {{"response", response("in_progress")}});
}

void ResponsesAnswer::open(Item kind, const std::string& name) {
    if (open_ == kind && kind != Item::kCall) return;
    close();
    open_ = kind;
    name_ = name;
    if (kind == Item::kCall) call_id_ = next_call_id(form_.call_number);
    send("response.output_item.added",
         {{"output_index", output_.size()}, {"item", item("in_progress", false)}});
    if (kind == Item::kCall) return;
    Json event = place();
    event["part"] = part();
    send("response.content_part.added", event);
}

/// Names of the events about the text of the open item.
std::string ResponsesAnswer::text_event(const char* what) const {
    const char* const text = open_ == Item::kMessage ? "output_text"
                             : open_ == Item::kCall  ? "function_call_arguments"
                                                     : "reasoning_text";
    return fmt::format("response.{}.{}", text, what);
}

void ResponsesAnswer::write(const std::string& text) {
    Json logprobs = Json::array();
    if (open_ == Item::kMessage && !tokens_.empty())
        logprobs = chat_logprobs(std::exchange(tokens_, {}))["content"];
    text_ += text;
    bytes_ += text.size();
    for (const Json& one : logprobs) logprobs_.push_back(one);
    if (text.empty()) return;
    Json event = place();
    event["delta"] = valid_utf8(text);
    if (open_ == Item::kMessage) event["logprobs"] = std::move(logprobs);
    send(text_event("delta"), event);
}

void ResponsesAnswer::close(const char* status) {
    if (!open_) return;
    Json done = place();
    done[open_ == Item::kCall ? "arguments" : "text"] = valid_utf8(text_);
    if (open_ == Item::kMessage) done["logprobs"] = logprobs_;
    if (open_ == Item::kCall) done["name"] = name_;
    send(text_event("done"), done);
    if (open_ != Item::kCall) {
        Json event = place();
        event["part"] = part();
        send("response.content_part.done", event);
    }
    Json whole = item(status, true);
    send("response.output_item.done", {{"output_index", output_.size()}, {"item", whole}});
    output_.push_back(std::move(whole));
    open_.reset();
    text_.clear();
    logprobs_ = Json::array();
}

void ResponsesAnswer::tell(const std::vector<AnswerEvent>& events) {
    for (const AnswerEvent& event : events) {
        switch (event.kind) {
            case AnswerEvent::Kind::kText:
            case AnswerEvent::Kind::kThought:
                if (event.text.empty()) break;
                open(event.kind == AnswerEvent::Kind::kText ? Item::kMessage : Item::kReasoning);
                write(event.text);
                break;
            case AnswerEvent::Kind::kCall:
                open(Item::kCall, event.text);
                break;
            case AnswerEvent::Kind::kArguments:
                write(event.text);
                break;
            case AnswerEvent::Kind::kCallEnd:
                close();
                break;
        }
    }
}

void ResponsesAnswer::add(std::optional<TokenReport> token, const std::string& text) {
    begin();
    if (token && open_ == Item::kReasoning) ++thought_tokens_;
    if (token && form_.has_logprobs && open_ != Item::kReasoning) tokens_.push_back(std::move(*token));
    tell(form_.reader ? form_.reader->push(text)
                      : std::vector{AnswerEvent{.kind = AnswerEvent::Kind::kText, .text = text}});
}

bool ResponsesAnswer::end(const EngineEnd& end) {
    const auto error = error_of(end);
    if (error && !form_.streams) {
        sink_.whole(reply_of(*error));
        return false;
    }
    begin();
    if (error) {
        Json failed = response("failed");
        failed["error"] = {{"code", "server_error"}, {"message", valid_utf8(error->message)}};
        send("response.failed", {{"response", std::move(failed)}});
        sink_.end();
        return false;
    }
    if (form_.reader) tell(form_.reader->finish());
    // An answer that calls nothing has a message, however short it is.
    const bool calls =
        open_ == Item::kCall || std::any_of(output_.begin(), output_.end(),
                                            [](const Json& one) { return one["type"] == "function_call"; });
    if (!calls) open(Item::kMessage);
    if (open_ == Item::kMessage) write("");  // the probabilities of a last token without text
    close(open_ == Item::kCall ? "incomplete" : "completed");
    end_ = end;
    return true;
}

void ResponsesAnswer::finish() {
    const bool is_whole = std::string_view(finish_reason(end_.reason, false)) == "stop";
    const char* const status = is_whole ? "completed" : "incomplete";
    Json whole = response(status);
    if (!is_whole) whole["incomplete_details"] = {{"reason", "max_output_tokens"}};
    whole["usage"] = json_of(end_, thought_tokens_);
    if (!form_.streams) return sink_.whole({.body = whole.dump()});
    send(std::string("response.") + status, {{"response", std::move(whole)}});
    sink_.end();
}

}  // namespace tessera::serve
