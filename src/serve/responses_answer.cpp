#include "serve/responses_answer.h"

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
    return {{"item_id", item("", {})["id"]}, {"output_index", output_.size()}, {"content_index", 0}};
}

Json ResponsesAnswer::part() const {
    if (open_ == Item::kReasoning) return {{"type", "reasoning_text"}, {"text", valid_utf8(text_)}};
    return {{"type", "output_text"},
            {"text", valid_utf8(text_)},
            {"annotations", Json::array()},
            {"logprobs", logprobs_}};
}

Json ResponsesAnswer::item(const char* status, Json content) const {
    const bool is_message = open_ == Item::kMessage;
    Json json = {{"id", fmt::format("{}_{}_{}", is_message ? "msg" : "rs", form_.id, output_.size())},
                 {"type", is_message ? "message" : "reasoning"},
                 {"status", status}};
    if (is_message)
        json["role"] = "assistant";
    else
        json["summary"] = Json::array();
    json["content"] = std::move(content);
    return json;
}

void ResponsesAnswer::begin() {
    if (std::exchange(has_begun_, true)) return;
    send("response.created", {{"response", response("in_progress")}});
    send("response.in_progress", {{"response", response("in_progress")}});
}

void ResponsesAnswer::open(Item kind) {
    if (open_ == kind) return;
    close();
    open_ = kind;
    send("response.output_item.added",
         {{"output_index", output_.size()}, {"item", item("in_progress", Json::array())}});
    Json event = place();
    event["part"] = part();
    send("response.content_part.added", event);
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
    send(open_ == Item::kMessage ? "response.output_text.delta" : "response.reasoning_text.delta", event);
}

void ResponsesAnswer::close() {
    if (!open_) return;
    Json done = place();
    done["text"] = valid_utf8(text_);
    if (open_ == Item::kMessage) done["logprobs"] = logprobs_;
    send(open_ == Item::kMessage ? "response.output_text.done" : "response.reasoning_text.done", done);
    Json event = place();
    event["part"] = part();
    send("response.content_part.done", event);
    Json whole = item("completed", Json::array({part()}));
    send("response.output_item.done", {{"output_index", output_.size()}, {"item", whole}});
    output_.push_back(std::move(whole));
    open_.reset();
    text_.clear();
    logprobs_ = Json::array();
}

void ResponsesAnswer::tell(const std::vector<llm::ThinkSplit::Part>& parts) {
    for (const llm::ThinkSplit::Part& part : parts) {
        if (part.text.empty()) continue;
        open(part.is_thought ? Item::kReasoning : Item::kMessage);
        write(part.text);
    }
}

void ResponsesAnswer::add(std::optional<TokenReport> token, const std::string& text) {
    begin();
    if (token && open_ == Item::kReasoning) ++thought_tokens_;
    if (token && form_.has_logprobs && open_ != Item::kReasoning) tokens_.push_back(std::move(*token));
    tell(form_.thoughts ? form_.thoughts->push(text) : std::vector{llm::ThinkSplit::Part{.text = text}});
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
    if (form_.thoughts) tell(form_.thoughts->finish());
    // An answer has a message, however short it is.
    if (open_ != Item::kMessage) open(Item::kMessage);
    write("");  // the probabilities of a last token without text
    close();
    end_ = end;
    return true;
}

void ResponsesAnswer::finish() {
    const bool is_whole = std::string_view(finish_reason(end_.reason)) == "stop";
    const char* const status = is_whole ? "completed" : "incomplete";
    Json whole = response(status);
    if (!is_whole) whole["incomplete_details"] = {{"reason", "max_output_tokens"}};
    whole["usage"] = json_of(end_, thought_tokens_);
    if (!form_.streams) return sink_.whole({.body = whole.dump()});
    send(std::string("response.") + status, {{"response", std::move(whole)}});
    sink_.end();
}

}  // namespace tessera::serve
