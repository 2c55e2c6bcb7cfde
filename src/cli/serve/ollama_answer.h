#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/serve/answer_json.h"
#include "cli/serve/embedding_answer.h"
#include "cli/serve/reply.h"
#include "cli/serve/text_answer.h"
#include "tessera/tools.h"

namespace tessera::serve {

struct OllamaForm {
    std::string model;     ///< as the request names it
    bool is_chat = false;  ///< of /api/chat, else of /api/generate
    bool streams = true;
    bool has_logprobs = false;
    std::shared_ptr<AnswerReader> reader = {};  ///< null: the answer is text alone
    uint64_t call_number = 0;                   ///< drawn: ids of calls follow from it
    std::chrono::steady_clock::time_point arrival = {};
};

/// The answer of /api/chat or /api/generate: lines of JSON as the text comes, or all of it.
class OllamaAnswer final : public TextAnswer {
public:
    OllamaAnswer(OllamaForm form, ReplySink sink);

    void add(std::optional<TokenReport> token, const std::string& text) override;
    [[nodiscard]] bool end(const EngineEnd& end) override;
    void finish() override;
    size_t bytes() const override { return text_.size() + thought_.size(); }

private:
    using Clock = std::chrono::steady_clock;

    void tell(const std::vector<AnswerEvent>& events);
    void take(const AnswerEvent& event);
    /// A frame with everything that is not sent yet.
    nlohmann::ordered_json frame();

    OllamaForm form_;
    ReplySink sink_;
    Clock::time_point begin_ = Clock::now();  ///< in the engine
    std::optional<Clock::time_point> first_;  ///< token
    Clock::time_point last_;
    std::string text_;     ///< not sent yet
    std::string thought_;  ///< likewise
    bool has_thought_ = false;
    ToolCall call_;                    ///< that is being written
    std::vector<ToolCall> calls_;      ///< not sent yet
    std::vector<TokenReport> tokens_;  ///< likewise
    EngineEnd end_;
};

/// The answer to a request that only loads or unloads the model.
std::string ollama_load(const std::string& model, bool is_chat, bool unloads);

/// The body of /api/embed, or of /api/embeddings before it: one embedding.
PrintEmbeddings ollama_embeddings(std::string model, std::chrono::steady_clock::time_point arrival);
PrintEmbeddings ollama_embedding();

}  // namespace tessera::serve
