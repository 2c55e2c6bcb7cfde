#include "serve/service.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <exception>
#include <memory>
#include <random>
#include <utility>
#include <variant>

#include <nlohmann/json.hpp>

#include "serve/answer.h"
#include "serve/embedding_answer.h"
#include "serve/metrics.h"
#include "serve/order.h"
#include "support/error.h"
#include "support/printable.h"

namespace tessera::serve {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kOneModel = "/v1/models/";
/// OpenAI's default for a completion.
constexpr int64_t kCompletionTokens = 16;

/// Threads that read requests and write answers: one of them may be busy with a large grammar.
constexpr int kQuickThreads = 2;
/// Bytes of a body, or of an answer, above which they are a matter of the slow lane.
constexpr size_t kMostQuick = size_t{64} << 10;

WorkLanes::Lane lane_of(size_t bytes) {
    return bytes > kMostQuick ? WorkLanes::Lane::kSlow : WorkLanes::Lane::kQuick;
}

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

/// "Bearer KEY", whatever the letters of the scheme (RFC 9110, 11.1); empty if it is another one.
std::string_view key_of(std::string_view authorization) {
    constexpr std::string_view kScheme = "bearer ";
    const bool is_bearer =
        authorization.size() > kScheme.size() &&
        std::equal(kScheme.begin(), kScheme.end(), authorization.begin(),
                   [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
    return is_bearer ? authorization.substr(kScheme.size()) : std::string_view();
}

/// The seed of one choice of a request: the first has that of the request, and each has draws of its own.
/// Source: Steele et al., "Fast Splittable Pseudorandom Number Generators" (2014), figure 17.
uint64_t seed_of_choice(uint64_t seed, uint64_t choice) {
    if (choice == 0) return seed;
    uint64_t mixed = seed + choice * 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    return mixed ^ (mixed >> 31);
}

ApiError stopping() {
    return {.status = 503, .message = "the server stops", .retry_after = 5};
}

uint64_t draw_seed() {
    std::random_device device;
    return (uint64_t{device()} << 32) | device();
}

std::string methods_of(bool is_post) {
    return is_post ? "POST, OPTIONS" : "GET, HEAD, OPTIONS";
}

/// What a browser may send from a page of another origin. Whether that origin may is said by the headers that
/// the connection adds.
Reply preflight(const RequestHead& head, bool is_post) {
    Reply reply{.status = 204, .body = "", .type = ""};
    reply.headers = {{"Allow", methods_of(is_post)},
                     {"Access-Control-Allow-Methods", methods_of(is_post)},
                     {"Access-Control-Max-Age", "600"}};
    if (!head.requested_headers.empty())
        reply.headers.emplace_back("Access-Control-Allow-Headers", printable(head.requested_headers));
    return reply;
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

struct Service::Endpoint {
    std::string_view path;
    /// Of a body; null for what is looked up.
    std::function<void()> (Service::*read)(std::string_view body, const ReplySink& sink);
};

const Service::Endpoint* Service::endpoint(std::string_view path) {
    static constexpr std::array<Endpoint, 6> kEndpoints = {{{"/v1/chat/completions", &Service::chat},
                                                            {"/v1/completions", &Service::complete},
                                                            {"/v1/embeddings", &Service::embed},
                                                            {"/v1/models", nullptr},
                                                            {"/health", nullptr},
                                                            {"/metrics", nullptr}}};
    static constexpr Endpoint kNamedModel = {kOneModel, nullptr};
    const auto known = std::find_if(kEndpoints.begin(), kEndpoints.end(),
                                    [&](const Endpoint& one) { return one.path == path; });
    if (known != kEndpoints.end()) return &*known;
    return path.starts_with(kOneModel) ? &kNamedModel : nullptr;
}

Service::Service(Engine& engine, ServiceSettings settings)
    : engine_(engine),
      settings_(std::move(settings)),
      has_chat_(engine.file().has_chat_template()),
      lanes_(std::make_shared<WorkLanes>(kQuickThreads)) {
    if (has_chat_) chat_ends_ = engine.file().chat_ends();
}

Service::~Service() {
    lanes_->stop();
}

std::optional<ApiError> Service::refusal(const RequestHead& head) const {
    const Endpoint* const known = endpoint(head.path);
    // A browser asks without the key what it may send with it.
    if (head.method == "OPTIONS" && (known != nullptr || head.path == "*")) return std::nullopt;
    if (!settings_.api_key.empty() && head.path != "/health" &&
        !are_equal(key_of(head.authorization), settings_.api_key))
        return ApiError{
            .status = 401,
            .message = "the header Authorization must be \"Bearer KEY\" with the key of this server",
            .code = "invalid_api_key"};
    if (known == nullptr)
        return ApiError{.status = 404, .message = fmt::format("there is no {}", printable(head.path))};
    const bool is_post = known->read != nullptr;
    if (is_post ? head.method != "POST" : head.method != "GET" && head.method != "HEAD")
        return ApiError{.status = 405,
                        .message = fmt::format("{} takes {}", printable(head.path), is_post ? "POST" : "GET"),
                        .allow = methods_of(is_post)};
    if (is_post && is_draining_) return stopping();
    return std::nullopt;
}

bool Service::is_long(const RequestHead& head) {
    return head.method == "POST";
}

std::function<void()> Service::handle(const RequestHead& head, std::string body, const ReplySink& sink) {
    const Endpoint* const known = endpoint(head.path);
    if (head.method == "OPTIONS") {
        sink.whole(preflight(head, known == nullptr || known->read != nullptr));
        return {};
    }
    if (known->read == nullptr) {
        try {
            sink.whole(get(head.path));
        } catch (const ApiError& error) {
            sink.whole(reply_of(error));
        }
        return {};
    }
    const auto order = std::make_shared<Order>();
    const size_t size = body.size();
    lanes_->add(lane_of(size), [this, order, known, body = std::move(body), sink] {
        if (order->is_cancelled()) return sink.whole(reply_of(stopping()));
        order->begun(read(*known, body, sink));
    });
    return [order] { order->cancel(); };
}

/// In a thread of the service.
std::function<void()> Service::read(const Endpoint& endpoint, std::string_view body, const ReplySink& sink) {
    try {
        return (this->*endpoint.read)(body, sink);
    } catch (const ApiError& error) {
        sink.whole(reply_of(error));
    } catch (const std::exception& error) {
        sink.whole(reply_of({.status = 500, .message = error.what()}));
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
    // Special tokens that the text spells are meant: who completes texts writes whole prompts.
    return text != nullptr ? engine_.file().encode(*text, /*special=*/true) : std::get<1>(prompt);
}

EngineRequest Service::engine_request(const TextRequest& text) const {
    return {.prompt = {},
            .sampling = text.sampling,
            .stop_strings = text.stop,
            .grammar = text.grammar,
            .deadline = std::chrono::steady_clock::now() + std::chrono::seconds(settings_.request_seconds),
            .likeliest = text.likeliest};
}

std::function<void()> Service::complete(std::string_view body, const ReplySink& sink) {
    const CompletionRequest request = parse_completion(body);
    std::vector<EngineRequest> requests;
    std::vector<AnswerPrompt> prompts;
    for (const Prompt& prompt : request.prompts) {
        EngineRequest one = engine_request(request.text);
        one.max_tokens = request.text.max_tokens.value_or(kCompletionTokens);
        as_api_error([&] {
            const auto* given = std::get_if<std::string>(&prompt);
            one.prompt = ids_of(prompt);
            prompts.emplace_back();
            if (!request.echoes && !request.text.likeliest) return;
            const std::string text = given != nullptr ? *given : engine_.file().decode(one.prompt);
            if (request.echoes)
                prompts.back().echo = text;
            else
                prompts.back().characters = count_characters(text);
        });
        requests.push_back(std::move(one));
    }
    const bool reports_prompts = request.echoes && request.text.likeliest.has_value();
    return start(request.text, false, std::move(requests), std::move(prompts), reports_prompts, sink);
}

std::function<void()> Service::chat(std::string_view body, const ReplySink& sink) {
    const ChatRequest request = parse_chat(body);
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
    return start(request.text, true, std::move(requests), std::vector<AnswerPrompt>(1), false, sink);
}

std::function<void()> Service::start(const TextRequest& text, bool is_chat,
                                     std::vector<EngineRequest> requests, std::vector<AnswerPrompt> prompts,
                                     bool reports_prompts, const ReplySink& sink) {
    const uint64_t seed = text.seed ? *text.seed : draw_seed();
    AnswerForm form{.id = fmt::format("{}-{:x}-{}", is_chat ? "chatcmpl" : "cmpl", draw_seed(), ++answers_),
                    .model = valid_utf8(engine_.file().name()),
                    .created = seconds_since_1970(),
                    .is_chat = is_chat,
                    .streams = text.streams,
                    .includes_usage = text.includes_usage,
                    .has_logprobs = text.likeliest.has_value(),
                    .prompts = std::move(prompts)};
    const auto answer = std::make_shared<Answer>(std::move(form), sink);
    for (size_t i = 0; i < requests.size(); ++i) {
        requests[i].sampling.seed = seed_of_choice(seed, i);
        if (reports_prompts)
            requests[i].on_prompt = [answer, i](TokenReport token) {
                answer->add_token(i, std::move(token));
            };
        requests[i].on_text = [answer, i](std::optional<TokenReport> token, const std::string& piece) {
            answer->add_text(i, std::move(token), piece);
        };
        // Whoever scores texts counts on an entry for each token that was drawn, and so for the end's.
        if (!is_chat && text.likeliest)
            requests[i].on_stop_id = [answer, i](TokenReport token) {
                answer->add_token(i, std::move(token));
            };
        requests[i].on_end = [answer, i, lanes = lanes_](const EngineEnd& end) {
            if (answer->end(i, end)) lanes->add(lane_of(answer->bytes()), [answer] { answer->finish(); });
        };
    }
    return submit(std::move(requests));
}

std::function<void()> Service::embed(std::string_view body, const ReplySink& sink) {
    const EmbeddingRequest request = parse_embedding(body);
    const int64_t width = engine_.file().embedding_width();
    if (width == 0)
        throw ApiError{.status = 501,
                       .message = fmt::format(
                           "{} was compiled without the output that embeddings are made of: start the "
                           "server with --embeddings and the checkpoint, or compile the model again "
                           "with `tessera compile --embeddings`",
                           engine_.file().name()),
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
        if (one.prompt.empty())
            throw ApiError{.message = "input: a text without tokens has no embedding: leave empty texts out",
                           .param = request.inputs.size() == 1 ? "input" : fmt::format("input[{}]", i)};
        one.max_tokens = 0;
        one.embedding = {.pooling = request.pooling};
        one.on_embedding = [answer, i](std::vector<float> embedding) {
            answer->add(i, std::move(embedding));
        };
        one.on_end = [answer, lanes = lanes_](const EngineEnd& end) {
            if (answer->end(end)) lanes->add(lane_of(answer->bytes()), [answer] { answer->finish(); });
        };
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
