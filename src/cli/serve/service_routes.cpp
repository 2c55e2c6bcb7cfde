// The endpoints, access to them, and the answers that are looked up at once.

#include <algorithm>
#include <array>
#include <exception>
#include <memory>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/serve/access.h"
#include "cli/serve/chat_page.h"
#include "cli/serve/metrics.h"
#include "cli/serve/order.h"
#include "cli/serve/service.h"
#include "support/printable.h"

namespace tessera::serve {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kOneModel = "/v1/models/";

ApiError stopping() {
    return {.status = 503, .message = "the server stops", .retry_after = 5};
}

std::string methods_of(bool is_post) {
    return is_post ? "POST, OPTIONS" : "GET, HEAD, OPTIONS";
}

std::string_view reason_of_absence(std::string_view path) {
    if (path.starts_with("/v1/responses/")) return ": this server keeps no answers";
    if (api_of(path) == Api::kOllama) return ": this server has the one model that it was started with";
    return "";
}

/// The requests that a page of another origin may send. The connection's own headers tell if the origin may
/// send them at all.
Reply preflight(const RequestHead& head, bool is_post) {
    Reply reply{.status = 204, .body = "", .type = ""};
    reply.headers = {{"Allow", methods_of(is_post)},
                     {"Access-Control-Allow-Methods", methods_of(is_post)},
                     {"Access-Control-Max-Age", "600"}};
    if (!head.requested_headers.empty())
        reply.headers.emplace_back("Access-Control-Allow-Headers", printable(head.requested_headers));
    return reply;
}

}  // namespace

struct Service::Endpoint {
    std::string_view path;  ///< one that ends in a slash stands for all below it, but / for itself
    /// Answers a body, in a thread of the service; null for look-ups.
    std::function<void()> (Service::*read)(std::string_view body, const ReplySink& sink);
    Reply (Service::*look_up)(std::string_view path) const;
    bool is_open = false;  ///< needs no key
};

const Service::Endpoint* Service::endpoint(std::string_view path) {
    static constexpr std::array<Endpoint, 18> kEndpoints = {{
        {"/", nullptr, &Service::page, true},
        {"/favicon.ico", nullptr, &Service::page, true},
        {"/api/chat", &Service::ollama_chat, nullptr},
        {"/api/embed", &Service::ollama_embed, nullptr},
        {"/api/embeddings", &Service::ollama_embed_one, nullptr},
        {"/api/generate", &Service::ollama_generate, nullptr},
        {"/api/ps", nullptr, &Service::ollama_models},
        {"/api/show", &Service::ollama_show, nullptr},
        {"/api/tags", nullptr, &Service::ollama_models},
        {"/api/version", nullptr, &Service::ollama_models},
        {"/health", nullptr, &Service::health, true},
        {"/metrics", nullptr, &Service::counts},
        {"/v1/chat/completions", &Service::chat, nullptr},
        {"/v1/completions", &Service::complete, nullptr},
        {"/v1/embeddings", &Service::embed, nullptr},
        {"/v1/responses", &Service::respond, nullptr},
        {"/v1/models", nullptr, &Service::models},
        {kOneModel, nullptr, &Service::models},
    }};
    const auto known = std::find_if(kEndpoints.begin(), kEndpoints.end(), [&](const Endpoint& one) {
        return one.path == path ||
               (one.path.size() > 1 && one.path.ends_with('/') && path.starts_with(one.path));
    });
    return known == kEndpoints.end() ? nullptr : &*known;
}

std::optional<ApiError> Service::refusal(const RequestHead& head) const {
    const Endpoint* const known = endpoint(head.path);
    // A browser's preflight request comes without the key.
    if (head.method == "OPTIONS" && (known != nullptr || head.path == "*")) return std::nullopt;
    const bool is_open = known != nullptr && known->is_open;
    if (!settings_.api_key.empty() && !is_open && !has_key(head.authorization, settings_.api_key))
        return ApiError{
            .status = 401,
            .message = "the header Authorization must be \"Bearer KEY\" with the key of this server",
            .code = "invalid_api_key"};
    if (known == nullptr)
        return ApiError{
            .status = 404,
            .message = fmt::format("there is no {}{}", printable(head.path), reason_of_absence(head.path))};
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
            sink.whole((this->*known->look_up)(head.path));
        } catch (const ApiError& error) {
            sink.whole(reply_of(error));
        }
        return {};
    }
    const auto order = std::make_shared<Order>();
    const size_t size = body.size();
    lanes_->add(lane_of(size), [this, order, known, body = std::move(body), sink] {
        if (order->is_cancelled()) return sink.whole(reply_of(stopping(), api_of(known->path)));
        order->begun(read(*known, body, sink));
    });
    return [order] { order->cancel(); };
}

/// Runs in a thread of the service.
std::function<void()> Service::read(const Endpoint& endpoint, std::string_view body, const ReplySink& sink) {
    try {
        return (this->*endpoint.read)(body, sink);
    } catch (const ApiError& error) {
        sink.whole(reply_of(error, api_of(endpoint.path)));
    } catch (const std::exception& error) {
        sink.whole(reply_of({.status = 500, .message = error.what()}, api_of(endpoint.path)));
    }
    return {};
}

void Service::count_reply(int status) {
    ++replies_[status];
}

Reply Service::page(std::string_view path) const {
    return path == "/" ? chat_page() : chat_icon();
}

Reply Service::health(std::string_view) const {
    return is_draining_ ? Reply{.status = 503, .body = R"({"status":"draining"})"}
                        : Reply{.body = R"({"status":"ok"})"};
}

Reply Service::counts(std::string_view) const {
    return {.body = metrics(engine_.statistics(), replies_),
            .type = "text/plain; version=0.0.4; charset=utf-8"};
}

Reply Service::models(std::string_view path) const {
    const std::string& name = engine_.file().name();
    const Json model = {{"id", valid_utf8(name)},
                        {"object", "model"},
                        {"created", 0},
                        {"owned_by", "tessera"},
                        {"context_length", engine_.context()}};
    if (!path.starts_with(kOneModel)) return {.body = Json{{"object", "list"}, {"data", {model}}}.dump()};
    const std::string_view asked = path.substr(kOneModel.size());
    if (asked != name)
        throw ApiError{.status = 404,
                       .message = fmt::format("there is no model {}, but {}", printable(asked), name),
                       .code = "model_not_found"};
    return {.body = model.dump()};
}

}  // namespace tessera::serve
