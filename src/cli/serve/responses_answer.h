#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/serve/answer_json.h"
#include "cli/serve/reply.h"
#include "cli/serve/text_answer.h"
#include "tessera/tools.h"

namespace tessera::serve {

struct ResponsesForm {
    std::string id;  ///< behind "resp_", "msg_", "rs_" and "fc_"
    std::string model;
    int64_t created = 0;  ///< seconds since 1970
    bool streams = false;
    bool has_logprobs = false;
    std::shared_ptr<AnswerReader> reader = {};  ///< null: the answer is text alone
    uint64_t call_number = 0;                   ///< drawn: ids of calls follow from it
    nlohmann::ordered_json echo;                ///< ResponsesRequest::echo
};

/// The answer of /v1/responses: items, one after the other, and events as they come.
///
///     created, in_progress
///       output_item.added
///         content_part.added, output_text.delta .., output_text.done, content_part.done
///         or function_call_arguments.delta .., function_call_arguments.done
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
    enum class Item { kMessage, kReasoning, kCall };

    void begin();
    void tell(const std::vector<AnswerEvent>& events);
    void open(Item item, const std::string& name = {});
    void write(const std::string& text);
    std::string text_event(const char* what) const;
    /// @param status of a call that may be incomplete
    void close(const char* status = "completed");
    nlohmann::ordered_json part() const;
    /// The open item; `has_content`: with all of its text.
    nlohmann::ordered_json item(const char* status, bool has_content) const;
    nlohmann::ordered_json response(const char* status) const;
    void send(const std::string& type, const nlohmann::ordered_json& fields);
    /// The place of the open item's content, for an event.
    nlohmann::ordered_json place() const;

    ResponsesForm form_;
    ReplySink sink_;
    bool has_begun_ = false;
    int64_t sequence_ = 0;
    std::optional<Item> open_;
    std::string text_;                 ///< of the open item
    std::string name_;                 ///< likewise, of a call
    std::string call_id_;              ///< likewise
    nlohmann::ordered_json logprobs_;  ///< likewise
    std::vector<TokenReport> tokens_;  ///< not in `logprobs_` yet
    nlohmann::ordered_json output_;    ///< items that are complete
    size_t bytes_ = 0;
    int64_t thought_tokens_ = 0;
    EngineEnd end_;
};

}  // namespace tessera::serve
