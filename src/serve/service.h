#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/parse_request.h"
#include "serve/reply.h"
#include "tessera/engine.h"

namespace tessera::serve {

struct ServiceSettings {
    std::string api_key = {};       ///< asked for by everything but /health; empty: by nothing
    int64_t request_seconds = 600;  ///< from the arrival of a request to the end of its answer
};

/// The head of a request.
struct RequestHead {
    std::string method;
    std::string path;           ///< without a query
    std::string authorization;  ///< the header; may be empty
};

/// The endpoints, without sockets. Functions may be called by one thread at a time.
class Service {
public:
    Service(Engine& engine, ServiceSettings settings);

    /// What can be said before the body is read: a wrong key, path or method.
    std::optional<ApiError> refusal(const RequestHead& head) const;
    /// Answers a request, at once or from the thread of the engine, which may be before this returns.
    /// @return cancels the request; empty where the answer is complete.
    /// @pre refusal(head) is empty
    std::function<void()> handle(const RequestHead& head, std::string_view body, const ReplySink& sink);

    /// From now on new texts are refused; those that were begun go on.
    void drain() { is_draining_ = true; }
    void count_reply(int status);

private:
    std::function<void()> complete(const CompletionRequest& request, const ReplySink& sink);
    std::function<void()> chat(const ChatRequest& request, const ReplySink& sink);
    std::function<void()> embed(const EmbeddingRequest& request, const ReplySink& sink);
    std::function<void()> submit(std::vector<EngineRequest> requests);
    std::vector<TokenId> ids_of(const Prompt& prompt) const;
    EngineRequest engine_request(const TextRequest& text) const;
    std::function<void()> start(const TextRequest& text, bool is_chat, std::vector<EngineRequest> requests,
                                std::vector<std::string> echoes, bool reports_prompts, const ReplySink& sink);
    Reply get(const std::string& path) const;
    std::string models(const std::string& path) const;

    Engine& engine_;
    ServiceSettings settings_;
    bool has_chat_;
    std::vector<TokenId> chat_ends_;
    uint64_t answers_ = 0;
    std::atomic<bool> is_draining_ = false;
    std::map<int, int64_t> replies_;  ///< by status
};

}  // namespace tessera::serve
