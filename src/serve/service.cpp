#include "serve/service.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <random>
#include <variant>

#include <nlohmann/json.hpp>

#include "serve/answer.h"
#include "serve/embedding_answer.h"
#include "serve/metrics.h"
#include "support/error.h"
#include "support/printable.h"

namespace tessera::serve {
namespace {

using Json = nlohmann::ordered_json;

struct Endpoint {
    std::string_view path;
    bool is_post;
};
constexpr std::array<Endpoint, 6> kEndpoints = {{{"/v1/chat/completions", true},
                                                 {"/v1/completions", true},
                                                 {"/v1/embeddings", true},
                                                 {"/v1/models", false},
                                                 {"/health", false},
                                                 {"/metrics", false}}};
constexpr std::string_view kOneModel = "/v1/models/";
/// OpenAI's default for a completion.
constexpr int64_t kCompletionTokens = 16;

/// Takes the same time wherever the keys differ.
bool are_equal(std::string_view given, std::string_view key) {
    unsigned difference = given.size() == key.size() ? 0 : 1;
    for (size_t i = 0; i < key.size(); ++i)
        difference |= static_cast<unsigned char>(key[i]) ^
                      static_cast<unsigned char>(given.empty() ? 0 : given[i % given.size()]);
    return difference == 0;
}

int64_t seconds_since_1970() {
    return std::chrono::duration_cast<std::chrono::seconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

uint64_t draw_seed() {
    std::random_device device;
    return (uint64_t{device()} << 32) | device();
}

/// What a request asks for is not what the model can do: the client's fault.
template <typename Job>
auto as_api_error(Job&& job) {
    try {
        return job();
    } catch (const Error& error) {
        std::string message = error.entity.empty() ? error.problem : error.entity + ": " + error.problem;
        const bool is_long = error.problem.find("context") != std::string::npos;
        throw ApiError{.message = std::move(message),
                       .param = error.entity,
                       .code = is_long ? "context_length_exceeded" : ""};
    }
}

}  // namespace

Service::Service(Engine& engine, ServiceSettings settings)
    : engine_(engine), settings_(std::move(settings)), has_chat_(engine.file().has_chat_template()) {
    if (has_chat_) chat_ends_ = engine.file().chat_ends();
}

std::optional<ApiError> Service::refusal(const RequestHead& head) const {
    constexpr std::string_view kBearer = "Bearer ";
    if (!settings_.api_key.empty() && head.path != "/health") {
        const std::string_view given = head.authorization;
        if (!given.starts_with(kBearer) || !are_equal(given.substr(kBearer.size()), settings_.api_key))
            return ApiError{.status = 401,
                            .message =
                                "the header Authorization must be \"Bearer KEY\" with the key of this "
                                "server",
                            .code = "invalid_api_key"};
    }
    const auto known = std::find_if(kEndpoints.begin(), kEndpoints.end(),
                                    [&](const Endpoint& endpoint) { return endpoint.path == head.path; });
    const bool is_known = known != kEndpoints.end() || head.path.starts_with(kOneModel);
    if (!is_known)
        return ApiError{.status = 404, .message = fmt::format("there is no {}", printable(head.path))};
    const bool is_post = known != kEndpoints.end() && known->is_post;
    if (is_post ? head.method != "POST" : head.method != "GET" && head.method != "HEAD")
        return ApiError{
            .status = 405,
            .message = fmt::format("{} takes {}", printable(head.path), is_post ? "POST" : "GET")};
    if (is_post && is_draining_)
        return ApiError{.status = 503, .message = "the server stops", .retry_after = 5};
    return std::nullopt;
}

std::function<void()> Service::handle(const RequestHead& head, std::string_view body, const ReplySink& sink) {
    try {
        if (head.path == "/v1/completions") return complete(parse_completion(body), sink);
        if (head.path == "/v1/chat/completions") return chat(parse_chat(body), sink);
        if (head.path == "/v1/embeddings") return embed(parse_embedding(body), sink);
        sink.whole(get(head.path));
    } catch (const ApiError& error) {
        sink.whole(reply_of(error));
    }
    return {};
}

void Service::count_reply(int status) {
    ++replies_[status];
}

Reply Service::get(const std::string& path) const {
    if (path == "/metrics")
        return {.body = metrics(engine_.statistics(), replies_),
                .type = "text/plain; version=0.0.4; charset=utf-8"};
    if (path == "/health")
        return is_draining_ ? Reply{.status = 503, .body = R"({"status":"draining"})"}
                            : Reply{.body = R"({"status":"ok"})"};
    return {.body = models(path)};
}

std::string Service::models(const std::string& path) const {
    const std::string& name = engine_.file().name();
    const Json model = {{"id", valid_utf8(name)},
                        {"object", "model"},
                        {"created", 0},
                        {"owned_by", "tessera"},
                        {"context_length", engine_.context()}};
    if (path == "/v1/models") return Json{{"object", "list"}, {"data", {model}}}.dump();
    if (path.substr(kOneModel.size()) != name)
        throw ApiError{.status = 404,
                       .message = fmt::format("there is no model {}, but {}",
                                              printable(path.substr(kOneModel.size())), name),
                       .code = "model_not_found"};
    return model.dump();
}

std::vector<TokenId> Service::ids_of(const Prompt& prompt) const {
    const auto* text = std::get_if<std::string>(&prompt);
    return text != nullptr ? engine_.file().encode(*text) : std::get<1>(prompt);
}

EngineRequest Service::engine_request(const TextRequest& text) const {
    return {.prompt = {},
            .sampling = text.sampling,
            .stop_strings = text.stop,
            .grammar = text.grammar,
            .deadline = std::chrono::steady_clock::now() + std::chrono::seconds(settings_.request_seconds),
            .likeliest = text.likeliest};
}

std::function<void()> Service::complete(const CompletionRequest& request, const ReplySink& sink) {
    std::vector<EngineRequest> requests;
    std::vector<std::string> echoes;
    for (const Prompt& prompt : request.prompts) {
        EngineRequest one = engine_request(request.text);
        one.max_tokens = request.text.max_tokens.value_or(kCompletionTokens);
        as_api_error([&] {
            const auto* text = std::get_if<std::string>(&prompt);
            one.prompt = ids_of(prompt);
            echoes.push_back(!request.echoes   ? ""
                             : text != nullptr ? *text
                                               : engine_.file().decode(one.prompt));
        });
        requests.push_back(std::move(one));
    }
    const bool reports_prompts = request.echoes && request.text.likeliest.has_value();
    return start(request.text, false, std::move(requests), std::move(echoes), reports_prompts, sink);
}

std::function<void()> Service::chat(const ChatRequest& request, const ReplySink& sink) {
    if (!has_chat_)
        throw ApiError{.message = "the model has no chat template: it continues texts, at /v1/completions",
                       .code = "unsupported_endpoint"};
    EngineRequest one = engine_request(request.text);
    one.prompt = as_api_error(
        [&] { return engine_.file().encode_chat(request.messages, {.thinks = request.thinks}); });
    one.stop_ids = chat_ends_;
    one.max_tokens = request.text.max_tokens.value_or(engine_.context());
    std::vector<EngineRequest> requests;
    requests.push_back(std::move(one));
    return start(request.text, true, std::move(requests), {""}, false, sink);
}

std::function<void()> Service::start(const TextRequest& text, bool is_chat,
                                     std::vector<EngineRequest> requests, std::vector<std::string> echoes,
                                     bool reports_prompts, const ReplySink& sink) {
    const uint64_t seed = text.seed ? *text.seed : draw_seed();
    AnswerForm form{.id = fmt::format("{}-{:x}-{}", is_chat ? "chatcmpl" : "cmpl", draw_seed(), ++answers_),
                    .model = valid_utf8(engine_.file().name()),
                    .created = seconds_since_1970(),
                    .is_chat = is_chat,
                    .streams = text.streams,
                    .includes_usage = text.includes_usage,
                    .has_logprobs = text.likeliest.has_value(),
                    .echoes = std::move(echoes)};
    const auto answer = std::make_shared<Answer>(std::move(form), sink);
    for (size_t i = 0; i < requests.size(); ++i) {
        requests[i].sampling.seed = seed;
        if (reports_prompts)
            requests[i].on_prompt = [answer, i](TokenReport token) {
                answer->add_prompt(i, std::move(token));
            };
        requests[i].on_text = [answer, i](std::optional<TokenReport> token, const std::string& piece) {
            answer->add_text(i, std::move(token), piece);
        };
        requests[i].on_end = [answer, i](const EngineEnd& end) { answer->end(i, end); };
    }
    return submit(std::move(requests));
}

std::function<void()> Service::embed(const EmbeddingRequest& request, const ReplySink& sink) {
    const int64_t width = engine_.file().embedding_width();
    if (width == 0)
        throw ApiError{
            .status = 501,
            .message =
                "the model was compiled without embeddings: start the server with --embeddings, or "
                "compile the model with it",
            .code = "unsupported_endpoint"};
    if (request.dimensions && *request.dimensions != width)
        throw ApiError{
            .message = fmt::format("dimensions: is {}, and the model has {}", *request.dimensions, width),
            .param = "dimensions"};
    const auto answer = std::make_shared<EmbeddingAnswer>(valid_utf8(engine_.file().name()),
                                                          request.inputs.size(), request.is_base64, sink);
    std::vector<EngineRequest> requests;
    for (size_t i = 0; i < request.inputs.size(); ++i) {
        EngineRequest one = engine_request({});
        // Unlike a prompt it is a whole text, which ends as the model expects.
        const auto* text = std::get_if<std::string>(&request.inputs[i]);
        one.prompt = as_api_error(
            [&] { return text != nullptr ? engine_.file().encode_whole(*text) : ids_of(request.inputs[i]); });
        one.max_tokens = 0;
        one.embedding = {.pooling = request.pooling};
        one.on_embedding = [answer, i](std::vector<float> embedding) {
            answer->add(i, std::move(embedding));
        };
        one.on_end = [answer](const EngineEnd& end) { answer->end(end); };
        requests.push_back(std::move(one));
    }
    return submit(std::move(requests));
}

std::function<void()> Service::submit(std::vector<EngineRequest> requests) {
    const std::vector<uint64_t> numbers = as_api_error([&] { return engine_.submit(std::move(requests)); });
    if (numbers.empty())
        throw ApiError{.status = 503,
                       .message = "all places are taken: try again",
                       .code = "queue_full",
                       .retry_after = 1};
    return [this, numbers] {
        for (const uint64_t number : numbers) engine_.cancel(number);
    };
}

}  // namespace tessera::serve
