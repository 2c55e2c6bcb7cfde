#include "cli/serve/ollama_answer.h"

#include <utility>

#include "cli/serve/ollama_model.h"
#include "support/printable.h"

namespace tessera::serve {
namespace {

using Json = nlohmann::ordered_json;

int64_t nanoseconds(std::chrono::steady_clock::duration time) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

Json head(const std::string& model) {
    return {{"model", valid_utf8(model)}, {"created_at", ollama_time(std::chrono::system_clock::now())}};
}

/// Adds the text of an answer at its place, which is returned for further fields.
Json& add_text(Json& json, bool is_chat, const std::string& text) {
    if (is_chat) json["message"]["role"] = "assistant";
    Json& place = is_chat ? json["message"] : json;
    place[is_chat ? "content" : "response"] = valid_utf8(text);
    return place;
}

Json ollama_call(const ToolCall& call) {
    Json arguments = Json::parse(call.arguments, nullptr, /*allow_exceptions=*/false);
    if (arguments.is_discarded()) arguments = valid_utf8(call.arguments);
    return {{"id", call.id}, {"function", {{"name", call.name}, {"arguments", std::move(arguments)}}}};
}

}  // namespace

OllamaAnswer::OllamaAnswer(OllamaForm form, ReplySink sink)
    : form_(std::move(form)), sink_(std::move(sink)) {}

Json OllamaAnswer::frame() {
    Json json = head(form_.model);
    Json& place = add_text(json, form_.is_chat, std::exchange(text_, {}));
    if (!thought_.empty()) place["thinking"] = valid_utf8(std::exchange(thought_, {}));
    for (const ToolCall& call : std::exchange(calls_, {})) place["tool_calls"].push_back(ollama_call(call));
    if (!tokens_.empty()) json["logprobs"] = chat_logprobs(std::exchange(tokens_, {}))["content"];
    return json;
}

void OllamaAnswer::take(const AnswerEvent& event) {
    switch (event.kind) {
        case AnswerEvent::Kind::kText:
            text_ += event.text;
            break;
        case AnswerEvent::Kind::kThought: {
            const size_t begin = has_thought_ ? 0 : event.text.find_first_not_of(" \n\r\t");
            if (begin == std::string::npos) break;
            has_thought_ = true;
            thought_ += event.text.substr(begin);
            break;
        }
        case AnswerEvent::Kind::kCall:
            call_ = {.id = next_call_id(form_.call_number), .name = event.text, .arguments = {}};
            break;
        case AnswerEvent::Kind::kArguments:
            call_.arguments += event.text;
            break;
        case AnswerEvent::Kind::kCallEnd:
            calls_.push_back(std::move(call_));
            break;
    }
}

void OllamaAnswer::tell(const std::vector<AnswerEvent>& events) {
    for (const AnswerEvent& event : events) take(event);
    if (!form_.streams || (text_.empty() && thought_.empty() && calls_.empty())) return;
    Json json = frame();
    json["done"] = false;
    sink_.piece(json.dump() + "\n");
}

void OllamaAnswer::add(std::optional<TokenReport> token, const std::string& text) {
    if (!first_) first_ = Clock::now();
    if (token && form_.has_logprobs) tokens_.push_back(std::move(*token));
    tell(form_.reader ? form_.reader->push(text)
                      : std::vector{AnswerEvent{.kind = AnswerEvent::Kind::kText, .text = text}});
}

bool OllamaAnswer::end(const EngineEnd& end) {
    if (const auto error = error_of(end)) {
        if (!form_.streams) {
            sink_.whole(reply_of(*error, Api::kOllama));
        } else {
            sink_.piece(print(*error, Api::kOllama) + "\n");
            sink_.end();
        }
        return false;
    }
    if (form_.reader) tell(form_.reader->finish());
    last_ = Clock::now();
    end_ = end;
    return true;
}

void OllamaAnswer::finish() {
    Json json = frame();
    json["done"] = true;
    json["done_reason"] = finish_reason(end_.reason, false);
    json["total_duration"] = nanoseconds(last_ - form_.arrival);
    json["load_duration"] = nanoseconds(begin_ - form_.arrival);
    json["prompt_eval_count"] = end_.prompt_tokens;
    json["prompt_eval_duration"] = nanoseconds(first_.value_or(last_) - begin_);
    json["eval_count"] = end_.generated_tokens;
    json["eval_duration"] = nanoseconds(last_ - first_.value_or(last_));
    if (!form_.streams) return sink_.whole({.body = json.dump()});
    sink_.piece(json.dump() + "\n");
    sink_.end();
}

std::string ollama_load(const std::string& model, bool is_chat, bool unloads) {
    Json json = head(model);
    (void)add_text(json, is_chat, "");
    json["done"] = true;
    json["done_reason"] = unloads ? "unload" : "load";
    return json.dump();
}

PrintEmbeddings ollama_embeddings(std::string model, std::chrono::steady_clock::time_point arrival) {
    return [model = std::move(model), arrival](const auto& embeddings, const Usage& usage) {
        const Json whole = {{"model", valid_utf8(model)},
                            {"embeddings", embeddings},
                            {"total_duration", nanoseconds(std::chrono::steady_clock::now() - arrival)},
                            {"load_duration", 0},
                            {"prompt_eval_count", usage.prompt_tokens}};
        return whole.dump();
    };
}

PrintEmbeddings ollama_embedding() {
    return [](const auto& embeddings, const Usage&) {
        const Json whole = {{"embedding", embeddings.empty() ? Json::array() : Json(embeddings.front())}};
        return whole.dump();
    };
}

}  // namespace tessera::serve
