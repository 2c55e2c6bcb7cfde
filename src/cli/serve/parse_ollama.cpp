#include "cli/serve/parse_ollama.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/serve/parse_fields.h"
#include "cli/serve/parse_parts.h"
#include "cli/serve/read_grammar.h"
#include "cli/serve/read_tools.h"

namespace tessera::serve {
namespace {

using Json = nlohmann::ordered_json;

/// They are about the machine and its memory, and change no text; `num_keep` is about shifting, which this
/// server does not do.
constexpr std::array<std::string_view, 12> kOfTheMachine = {
    "num_batch", "num_gpu", "main_gpu",   "low_vram", "use_mmap",   "use_mlock",
    "numa",      "f16_kv",  "num_thread", "num_keep", "vocab_only", "logits_all"};
/// Ollama's own defaults.
constexpr SamplingOptions kSampling{
    .temperature = 0.8, .top_k = 40, .top_p = 0.9, .repetition_penalty = 1.1, .repetition_window = 64};

/// Refuses an option that is not at the value which means that it does nothing.
void expect_off(const JsonCursor& options, const char* name, double off) {
    if (const auto field = options.find(name); field && !field->is_equal(off))
        refuse_field(*field, fmt::format("is not supported: leave it out, or send {}", off));
}

void refuse_filled(const JsonCursor& root, const char* name, std::string_view why) {
    if (const auto field = root.find(name); field && !field->is_empty()) refuse_field(*field, why);
}

void refuse_true(const JsonCursor& root, const char* name, std::string_view why) {
    if (const auto field = root.find(name); field && field->boolean()) refuse_field(*field, why);
}

/// A negative number, or 0, stands for no limit.
void read_counts(const JsonCursor& options, OllamaRequest& common, TextRequest& text) {
    if (const auto field = options.find("num_predict")) {
        const int64_t most = whole_number(*field);
        if (most > 0) text.max_tokens = most;
    }
    if (const auto field = options.find("num_ctx")) common.context = whole_number(*field, 1);
    if (const auto field = options.find("repeat_last_n")) {
        const int64_t window = whole_number(*field, -1);
        text.sampling.repetition_window = window < 0 ? std::numeric_limits<int64_t>::max() : window;
    }
}

void read_ollama_options(const JsonCursor& options, OllamaRequest& common, TextRequest& text) {
    read_common_sampling(options, text.sampling);
    if (const auto field = options.find("repeat_penalty"))
        text.sampling.repetition_penalty = field->real(0.01, 100);
    read_counts(options, common, text);
    // Ollama's -1 is a drawn seed.
    if (const auto field = options.find("seed"))
        if (const int64_t seed = whole_number(*field); seed != -1) text.seed = static_cast<uint64_t>(seed);
    if (const auto field = options.find("stop")) text.stop = read_stops(*field);
    expect_off(options, "mirostat", 0);
    for (const char* name : {"mirostat_tau", "mirostat_eta"}) (void)options.find(name);
    expect_off(options, "tfs_z", 1);
    if (const auto field = options.find("penalize_newline"); field && !field->boolean())
        refuse_field(*field, "line breaks are tokens as others are: leave it out");
    for (const std::string_view name : kOfTheMachine) (void)options.find(name);
}

/// "json" or a schema; an empty text is none.
std::optional<Grammar> read_ollama_format(const JsonCursor& field, std::string_view body) {
    if (field.is_object()) return read_schema(field, body, {"format"});
    const std::string name = field.string();
    if (name.empty()) return std::nullopt;
    if (name != "json") field.fail_expected("json or a schema");
    return Grammar::json_object();
}

/// True and false, or how much a model thinks, which is true.
bool read_thinks(const JsonCursor& field) {
    if (!field.is_string()) return field.boolean();
    const std::string level = field.string();
    if (level != "low" && level != "medium" && level != "high")
        field.fail_expected("true, false, low, medium or high");
    return true;
}

bool is_zero_time(const JsonCursor& field) {
    if (field.is_number()) return field.is_off();
    const std::string text = field.string();
    return !text.empty() && text.find_first_not_of("0hmsnu.") == std::string::npos;
}

OllamaRequest read_common(const JsonCursor& root) {
    OllamaRequest common{.model = root.at("model").string(), .context = {}};
    if (const auto field = root.find("keep_alive")) common.unloads = is_zero_time(*field);
    return common;
}

TextRequest read_ollama_text(const JsonCursor& root, std::string_view body, OllamaRequest& common) {
    TextRequest text;
    text.sampling = kSampling;
    if (const auto options = root.find("options")) read_ollama_options(*options, common, text);
    if (const auto field = root.find("format")) text.grammar = read_ollama_format(*field, body);
    text.streams = root.boolean_or("stream", true);
    text.likeliest = read_likeliest(root);
    refuse_true(root, "truncate", "a prompt that is too long is refused, and not cut");
    refuse_true(root, "shift", "a text ends where the context does");
    return text;
}

/// Ollama's messages: calls need no ids, and their arguments are objects. A tool's message answers the first
/// call of its name that has no answer.
class OllamaMessages {
public:
    /// `written`: the messages, in which the members of arguments have their order.
    explicit OllamaMessages(Json written) : written_(std::move(written)) {}

    ChatMessage read(const JsonCursor& item) {
        refuse_filled(item, "images", "the model reads text alone");
        (void)item.find("thinking");
        const JsonCursor role = item.at("role");
        ChatMessage message{.role = role.string(), .content = item.string_or("content", "")};
        if (message.role != "system" && message.role != "user" && message.role != "assistant" &&
            message.role != "tool")
            role.fail_expected("system, user, assistant or tool");
        if (const auto calls = item.find("tool_calls"); calls && !calls->is_empty()) {
            if (message.role != "assistant") calls->fail("is for messages of the role assistant");
            open_ = message.tool_calls = read_calls(*calls);
        }
        if (message.role == "tool") message.tool_call_id = id_of_answer(item);
        ++index_;
        return message;
    }

private:
    /// Nine letters and digits, which is what templates of Mistral want.
    std::string new_id() { return fmt::format("call{:05}", ++last_id_); }

    std::vector<ToolCall> read_calls(const JsonCursor& calls) {
        std::vector<ToolCall> result;
        const Json& written = written_[index_]["tool_calls"];
        for (const JsonCursor& item : calls.items()) {
            const JsonCursor function = item.at("function");
            for (const char* unused : {"index", "description"}) (void)function.find(unused);
            (void)item.find("type");
            if (const JsonCursor arguments = function.at("arguments"); !arguments.is_object())
                arguments.fail_expected("an object");
            const auto id = item.find("id");
            result.push_back({id ? id->string() : new_id(), function.at("name").string(),
                              written[result.size()]["function"]["arguments"].dump()});
        }
        return result;
    }

    std::string id_of_answer(const JsonCursor& item) {
        const auto given = item.find("tool_call_id");
        const std::string name = item.string_or("tool_name", item.string_or("name", ""));
        const auto call = std::find_if(open_.begin(), open_.end(), [&](const ToolCall& one) {
            return given ? one.id == given->string() : name.empty() || one.name == name;
        });
        std::string id = given ? given->string() : call != open_.end() ? call->id : new_id();
        if (call != open_.end()) open_.erase(call);
        return id;
    }

    Json written_;
    size_t index_ = 0;
    std::vector<ToolCall> open_;  ///< without an answer
    uint64_t last_id_ = 0;
};

ChatRequest read_ollama_chat(const JsonCursor& root, std::string_view body, OllamaRequest& common) {
    ChatRequest chat{.text = read_ollama_text(root, body, common), .messages = {}, .thinks = {}};
    if (const auto field = root.find("think")) chat.thinks = read_thinks(*field);
    return chat;
}

void refuse_parts(const JsonCursor& root) {
    refuse_filled(root, "template", "the model's own template is used: send the prompt `raw`");
    refuse_filled(root, "context", "the server keeps no conversations: send the messages to /api/chat");
    refuse_filled(root, "images", "the model reads text alone");
    refuse_filled(root, "suffix", "text after the completion is not supported");
}

}  // namespace

OllamaChatRequest parse_ollama_chat(std::string_view body) {
    OllamaChatRequest request;
    read_body(body, [&](const JsonCursor& root) {
        request.common = read_common(root);
        request.chat = read_ollama_chat(root, body, request.common);
        read_chat_tools(root, body, request.chat);
        const auto messages = root.find("messages");
        if (!messages) return;
        OllamaMessages reader(Json::parse(body)["messages"]);
        for (const JsonCursor& item : messages->items()) request.chat.messages.push_back(reader.read(item));
    });
    return request;
}

OllamaGenerateRequest parse_ollama_generate(std::string_view body) {
    OllamaGenerateRequest request;
    read_body(body, [&](const JsonCursor& root) {
        request.common = read_common(root);
        ChatRequest chat = read_ollama_chat(root, body, request.common);
        refuse_parts(root);
        const std::string prompt = root.string_or("prompt", "");
        const std::string system = root.string_or("system", "");
        if (root.boolean_or("raw", false)) {
            refuse_filled(root, "system", "a `raw` prompt has no other parts");
            CompletionRequest completion{.text = std::move(chat.text), .prompts = {}};
            if (!prompt.empty()) completion.prompts.emplace_back(prompt);
            request.request = std::move(completion);
            return;
        }
        if (!prompt.empty() && !system.empty())
            chat.messages.push_back({.role = "system", .content = system});
        if (!prompt.empty()) chat.messages.push_back({.role = "user", .content = prompt});
        request.request = std::move(chat);
    });
    return request;
}

OllamaEmbeddingRequest parse_ollama_embed(std::string_view body) {
    OllamaEmbeddingRequest request;
    read_body(body, [&](const JsonCursor& root) {
        request.common = read_common(root);
        TextRequest ignored;
        if (const auto options = root.find("options")) read_ollama_options(*options, request.common, ignored);
        if (const auto field = root.find("input"); field && !field->is_empty())
            request.embedding.inputs = read_prompts(*field);
        request.embedding.normalises = true;
        request.embedding.truncates = root.boolean_or("truncate", true);
        if (const auto field = root.find("dimensions"); field && !field->is_off())
            request.embedding.dimensions = whole_number(*field, 1, 1 << 24);
    });
    return request;
}

OllamaEmbeddingRequest parse_ollama_embeddings(std::string_view body) {
    OllamaEmbeddingRequest request;
    read_body(body, [&](const JsonCursor& root) {
        request.common = read_common(root);
        TextRequest ignored;
        if (const auto options = root.find("options")) read_ollama_options(*options, request.common, ignored);
        if (const std::string prompt = root.string_or("prompt", ""); !prompt.empty())
            request.embedding.inputs.emplace_back(prompt);
        request.embedding.truncates = true;
        request.embedding.normalises = false;
    });
    return request;
}

std::string parse_ollama_show(std::string_view body) {
    std::string name;
    read_body(body, [&](const JsonCursor& root) {
        // Older clients call it so.
        const auto field = root.find("model");
        const auto other = root.find("name");
        name = field ? field->string() : other ? other->string() : root.at("model").string();
        (void)root.boolean_or("verbose", false);
        for (const char* unused : {"system", "template"})
            refuse_filled(root, unused, "the model has its own");
        (void)root.find("options");
    });
    return name;
}

}  // namespace tessera::serve
