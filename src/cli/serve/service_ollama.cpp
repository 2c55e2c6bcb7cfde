// Ollama's API: its requests become those of OpenAI, and its answers are of the same texts.

#include <chrono>
#include <memory>
#include <utility>
#include <variant>

#include <fmt/core.h>

#include "cli/serve/ollama_answer.h"
#include "cli/serve/service.h"
#include "support/printable.h"

namespace tessera::serve {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

void Service::expect_ollama(const OllamaRequest& request) const {
    if (!is_named(ollama_, request.model))
        throw ApiError{.status = 404,
                       .message = fmt::format("model: there is no {}, but {}", printable(request.model),
                                              printable(ollama_.name))};
    if (request.context.value_or(0) > engine_.context())
        throw ApiError{.message = fmt::format(
                           "options.num_ctx: is {}, and this server has {}: start it with --context {}",
                           *request.context, engine_.context(), *request.context)};
}

std::function<void()> Service::ollama_chat(std::string_view body, const ReplySink& sink) {
    OllamaForm form{.is_chat = true, .arrival = Clock::now()};
    const OllamaChatRequest request = parse_ollama_chat(body);
    expect_ollama(request.common);
    if (request.chat.messages.empty()) {
        sink.whole({.body = ollama_load(request.common.model, true, request.common.unloads)});
        return {};
    }
    form.model = request.common.model;
    return answer_ollama(std::move(form), request.chat, sink);
}

std::function<void()> Service::ollama_generate(std::string_view body, const ReplySink& sink) {
    OllamaForm form{.is_chat = false, .arrival = Clock::now()};
    OllamaGenerateRequest request = parse_ollama_generate(body);
    expect_ollama(request.common);
    form.model = request.common.model;
    auto* const chat = std::get_if<ChatRequest>(&request.request);
    if (chat != nullptr && chat->messages.size() == 1 && !has_chat_)
        // Ollama's template of a model that has none is the prompt itself.
        request.request = CompletionRequest{.text = chat->text, .prompts = {chat->messages.front().content}};
    auto* const completion = std::get_if<CompletionRequest>(&request.request);
    if (completion != nullptr ? completion->prompts.empty() : chat->messages.empty()) {
        sink.whole({.body = ollama_load(form.model, false, request.common.unloads)});
        return {};
    }
    if (completion == nullptr) return answer_ollama(std::move(form), *chat, sink);
    completion->text.max_tokens = completion->text.max_tokens.value_or(engine_.context());
    return start_ollama(std::move(form), completion->text,
                        prompt_request(completion->text, completion->prompts.front()), sink);
}

std::function<void()> Service::answer_ollama(OllamaForm form, const ChatRequest& request,
                                             const ReplySink& sink) {
    if (request.thinks.value_or(false) && !thinks_)
        throw ApiError{.message = fmt::format("think: {} does not think before it answers: leave it out",
                                              printable(ollama_.name))};
    EngineRequest one = chat_request(request);
    form.reader = reader_of(one, request);
    form.call_number = draw_seed();
    return start_ollama(std::move(form), request.text, std::move(one), sink);
}

std::function<void()> Service::start_ollama(OllamaForm form, const TextRequest& text, EngineRequest request,
                                            const ReplySink& sink) {
    form.streams = text.streams;
    form.has_logprobs = text.likeliest.has_value();
    return start_one(text, std::move(request), std::make_shared<OllamaAnswer>(std::move(form), sink));
}

std::function<void()> Service::ollama_embed(std::string_view body, const ReplySink& sink) {
    const auto arrival = Clock::now();
    const OllamaEmbeddingRequest request = parse_ollama_embed(body);
    return embed_ollama(request, ollama_embeddings(request.common.model, arrival), sink);
}

std::function<void()> Service::ollama_embed_one(std::string_view body, const ReplySink& sink) {
    return embed_ollama(parse_ollama_embeddings(body), ollama_embedding(), sink);
}

std::function<void()> Service::embed_ollama(const OllamaEmbeddingRequest& request, PrintEmbeddings print,
                                            const ReplySink& sink) {
    expect_ollama(request.common);
    if (request.embedding.inputs.empty()) {
        sink.whole({.body = print({}, {})});
        return {};
    }
    return start_embedding(request.embedding, std::move(print), Api::kOllama, sink);
}

std::function<void()> Service::ollama_show(std::string_view body, const ReplySink& sink) {
    expect_ollama({.model = parse_ollama_show(body), .context = {}});
    sink.whole({.body = print_show(ollama_)});
    return {};
}

Reply Service::ollama_models(std::string_view path) const {
    if (path == "/api/version") return {.body = print_version()};
    return {.body = path == "/api/ps" ? print_running(ollama_) : print_tags(ollama_)};
}

}  // namespace tessera::serve
