#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "llm/think_split.h"
#include "serve/answer_json.h"
#include "serve/reply.h"
#include "serve/text_answer.h"

namespace tessera::serve {

struct ResponsesForm {
    std::string id;  ///< behind "resp_", "msg_" and "rs_"
    std::string model;
    int64_t created = 0;  ///< seconds since 1970
    bool streams = false;
    bool has_logprobs = false;
    std::optional<llm::ThinkSplit> thoughts = {};  ///< set: they are items of their own
    nlohmann::ordered_json echo;                   ///< ResponsesRequest::echo
};

/// The answer of /v1/responses: items, one after the other, and events as they come.
///
///     created, in_progress
///       output_item.added
///         content_part.added, output_text.delta .., output_text.done, content_part.done
///       output_item.done
///       ..
///     completed | incomplete | failed
class ResponsesAnswer final : public TextAnswer {
public:
    ResponsesAnswer(ResponsesForm form, ReplySink sink);

    void add(std::optional<TokenReport> token, const std::string& text) override;
    [[nodiscard]] bool end(const EngineEnd& end) override;
    void finish() override;
    size_t bytes() const override { return bytes_; }

private:
    enum class Item { kMessage, kReasoning };

    void begin();
    void tell(const std::vector<llm::ThinkSplit::Part>& parts);
    void open(Item item);
    void write(const std::string& text);
    void close();
    nlohmann::ordered_json part() const;
    nlohmann::ordered_json item(const char* status, nlohmann::ordered_json content) const;
    nlohmann::ordered_json response(const char* status) const;
    void send(const std::string& type, const nlohmann::ordered_json& fields);
    /// Of an event about the content of the open item.
    nlohmann::ordered_json place() const;

    ResponsesForm form_;
    ReplySink sink_;
    bool has_begun_ = false;
    int64_t sequence_ = 0;
    std::optional<Item> open_;
    std::string text_;                 ///< of the open item
    nlohmann::ordered_json logprobs_;  ///< likewise
    std::vector<TokenReport> tokens_;  ///< not in `logprobs_` yet
    nlohmann::ordered_json output_;    ///< items that are complete
    size_t bytes_ = 0;
    int64_t thought_tokens_ = 0;
    EngineEnd end_;
};

}  // namespace tessera::serve
