#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/serve/answer.h"
#include "cli/serve/embedding_answer.h"
#include "cli/serve/ollama_answer.h"
#include "cli/serve/ollama_model.h"
#include "cli/serve/parse_ollama.h"
#include "cli/serve/parse_request.h"
#include "cli/serve/reply.h"
#include "cli/serve/text_answer.h"
#include "support/work_lanes.h"
#include "tessera/engine.h"

namespace tessera::serve {

struct ServiceSettings {
    std::string api_key = {};        ///< asked for by all but /health and the page; empty: never asked for
    int64_t request_seconds = 600;   ///< from the arrival of a request to the end of its answer
    std::string chat_template = {};  ///< ChatSettings::chat_template; empty: the model's own
};

/// The head of a request.
struct RequestHead {
    std::string method;
    std::string path;                    ///< without a query
    std::string authorization;           ///< the header; may be empty
    std::string requested_headers = {};  ///< Access-Control-Request-Headers; may be empty
};

/// The endpoints, without sockets. Functions may be called by one thread at a time, and return soon: bodies
/// are read, and answers written, by threads of the service.
class Service {
public:
    Service(Engine& engine, ServiceSettings settings);
    Service(const Service&) = delete;
    Service& operator=(const Service&) = delete;
    ~Service();

    /// The refusal of a wrong key, path or method, before the body is read.
    std::optional<ApiError> refusal(const RequestHead& head) const;
    /// True if the answer takes longer than a look-up.
    static bool is_long(const RequestHead& head);
    /// Answers a request, at once or from other threads, perhaps before this returns.
    /// @return cancels the request; empty if the answer is complete. The sink may still be told that a
    /// cancelled request was.
    /// @pre refusal(head) is empty
    std::function<void()> handle(const RequestHead& head, std::string body, const ReplySink& sink);

    /// Refuses new texts from now on; begun ones go on.
    void drain() { is_draining_ = true; }
    void count_reply(int status);

private:
    struct Endpoint;
    static const Endpoint* endpoint(std::string_view path);
    static WorkLanes::Lane lane_of(size_t bytes);
    static int64_t seconds_since_1970();
    static uint64_t draw_seed();

    std::function<void()> read(const Endpoint& endpoint, std::string_view body, const ReplySink& sink);
    std::function<void()> complete(std::string_view body, const ReplySink& sink);
    std::function<void()> chat(std::string_view body, const ReplySink& sink);
    std::function<void()> embed(std::string_view body, const ReplySink& sink);
    std::function<void()> respond(std::string_view body, const ReplySink& sink);
    std::function<void()> ollama_chat(std::string_view body, const ReplySink& sink);
    std::function<void()> ollama_generate(std::string_view body, const ReplySink& sink);
    std::function<void()> ollama_embed(std::string_view body, const ReplySink& sink);
    std::function<void()> ollama_embed_one(std::string_view body, const ReplySink& sink);
    std::function<void()> ollama_show(std::string_view body, const ReplySink& sink);
    void expect_ollama(const OllamaRequest& request) const;
    std::function<void()> answer_ollama(OllamaForm form, const ChatRequest& request, const ReplySink& sink);
    std::function<void()> start_ollama(OllamaForm form, const TextRequest& text, EngineRequest request,
                                       const ReplySink& sink);
    std::function<void()> embed_ollama(const OllamaEmbeddingRequest& request, PrintEmbeddings print,
                                       const ReplySink& sink);
    std::function<void()> submit(std::vector<EngineRequest> requests);
    std::vector<TokenId> ids_of(const Prompt& prompt) const;
    EngineRequest engine_request(const TextRequest& text) const;
    EngineRequest prompt_request(const TextRequest& text, const Prompt& prompt) const;
    ChatSettings chat_settings(const ChatRequest& request) const;
    EngineRequest chat_request(const ChatRequest& request) const;
    std::function<std::shared_ptr<AnswerReader>()> add_tools(EngineRequest& made,
                                                             const ChatRequest& request) const;
    EngineRequest embedding_request(const EmbeddingRequest& request, size_t input) const;
    bool has_thinking() const;
    bool has_tools() const;
    std::shared_ptr<AnswerReader> reader_of(EngineRequest& made, const ChatRequest& request) const;
    std::string new_id();
    std::function<void()> start(const TextRequest& text, bool is_chat, std::vector<EngineRequest> requests,
                                std::vector<AnswerPrompt> prompts, bool reports_prompts,
                                const ReplySink& sink,
                                std::vector<std::shared_ptr<AnswerReader>> readers = {});
    std::function<void()> start_one(const TextRequest& text, EngineRequest request,
                                    const std::shared_ptr<TextAnswer>& answer);
    std::function<void()> start_embedding(const EmbeddingRequest& request, PrintEmbeddings print, Api api,
                                          const ReplySink& sink);
    Reply page(std::string_view path) const;
    Reply health(std::string_view path) const;
    Reply counts(std::string_view path) const;
    Reply models(std::string_view path) const;
    Reply ollama_models(std::string_view path) const;

    Engine& engine_;
    ServiceSettings settings_;
    SamplingOptions usual_sampling_;  ///< of requests that set none: the model's, else OpenAI's
    bool has_chat_;
    std::vector<TokenId> chat_ends_;
    bool thinks_ = false;  ///< the chat template tells of thinking
    OllamaModel ollama_;
    std::atomic<uint64_t> answers_ = 0;
    std::atomic<bool> is_draining_ = false;
    std::map<int, int64_t> replies_;    ///< by status
    std::shared_ptr<WorkLanes> lanes_;  ///< also of answers that outlive the service
};

}  // namespace tessera::serve
