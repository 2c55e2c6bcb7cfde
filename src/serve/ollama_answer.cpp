#include "serve/ollama_answer.h"

#include <utility>

#include "serve/ollama_model.h"
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

void add_text(Json& json, bool is_chat, const std::string& text, const std::string& thought) {
    Json message = Json::object();
    if (is_chat) message["role"] = "assistant";
    message[is_chat ? "content" : "response"] = valid_utf8(text);
    if (!thought.empty()) message["thinking"] = valid_utf8(thought);
    if (is_chat)
        json["message"] = std::move(message);
    else
        json.update(message);
}

}  // namespace

OllamaAnswer::OllamaAnswer(OllamaForm form, ReplySink sink)
    : form_(std::move(form)), sink_(std::move(sink)) {}

Json OllamaAnswer::frame(const std::string& text, const std::string& thought) {
    Json json = head(form_.model);
    add_text(json, form_.is_chat, text, thought);
    if (!tokens_.empty()) json["logprobs"] = chat_logprobs(std::exchange(tokens_, {}))["content"];
    return json;
}

void OllamaAnswer::tell(const std::vector<llm::ThinkSplit::Part>& parts) {
    for (const llm::ThinkSplit::Part& part : parts) {
        if (!part.is_thought) {
            text_ += part.text;
        } else if (has_thought_) {
            thought_ += part.text;
        } else if (const size_t begin = part.text.find_first_not_of(" \n\r\t"); begin != std::string::npos) {
            has_thought_ = true;
            thought_ += part.text.substr(begin);
        }
    }
    if (!form_.streams || (text_.empty() && thought_.empty())) return;
    Json json = frame(std::exchange(text_, {}), std::exchange(thought_, {}));
    json["done"] = false;
    sink_.piece(json.dump() + "\n");
}

void OllamaAnswer::add(std::optional<TokenReport> token, const std::string& text) {
    if (!first_) first_ = Clock::now();
    if (token && form_.has_logprobs) tokens_.push_back(std::move(*token));
    tell(form_.thoughts ? form_.thoughts->push(text) : std::vector{llm::ThinkSplit::Part{.text = text}});
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
    if (form_.thoughts) tell(form_.thoughts->finish());
    last_ = Clock::now();
    end_ = end;
    return true;
}

void OllamaAnswer::finish() {
    Json json = frame(text_, thought_);
    json["done"] = true;
    json["done_reason"] = finish_reason(end_.reason);
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
    add_text(json, is_chat, "", "");
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
