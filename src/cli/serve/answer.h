#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/serve/answer_json.h"
#include "cli/serve/reply.h"
#include "tessera/engine.h"
#include "tessera/tools.h"

namespace tessera::serve {

/// The part of an answer that depends on the prompt of one choice.
struct AnswerPrompt {
    std::string echo = {};     ///< begins the text of the answer; may be empty
    int64_t characters = 0;    ///< of a prompt that is not echoed: offset of the first token
    bool is_repeated = false;  ///< the prompt of the choice before, whose tokens count once
};

struct AnswerForm {
    std::string id;
    std::string model;
    int64_t created = 0;  ///< seconds since 1970
    bool is_chat = false;
    bool streams = false;
    bool includes_usage = false;
    bool has_logprobs = false;
    std::vector<AnswerPrompt> prompts;  ///< of each choice
    /// The reader for each choice of a chat that may call functions; else empty.
    std::vector<std::shared_ptr<AnswerReader>> readers = {};
    uint64_t call_number = 0;  ///< drawn: ids of calls follow from it
};

/// Turns the engine's events for one request, its choices, into the answer. Whole answers come at the end;
/// streams are events as the text comes. All calls but `finish` come from the engine's thread.
class Answer {
public:
    Answer(AnswerForm form, ReplySink sink);

    /// A token for `logprobs` whose text is no part of the answer's, or is echoed.
    void add_token(size_t choice, TokenReport token);
    void add_text(size_t choice, std::optional<TokenReport> token, const std::string& text);
    /// Ends a choice. The first one that failed ends the answer. @return true if it was the last one, and
    /// `finish` has to be called.
    [[nodiscard]] bool end(size_t choice, const EngineEnd& end);
    /// Sends the rest of the answer: all of it, unless it is a stream. Any thread may call it, once.
    void finish();
    /// The approximate number of bytes that `finish` will send.
    size_t bytes() const;

private:
    struct Choice {
        std::string text;
        std::string thought;
        std::vector<ToolCall> calls;
        std::vector<TokenReport> tokens;  ///< not sent yet
        int64_t offset = 0;               ///< characters before them
        const char* finish_reason = nullptr;
        bool has_begun = false;
    };

    void begin(size_t index);
    /// Sends a piece of the text, or content apart from it.
    void send_text(size_t index, const std::string& text);
    void send_chunk(size_t index, nlohmann::ordered_json content);
    void tell(size_t index, const std::vector<AnswerEvent>& events);
    void tell(size_t index, const AnswerEvent& event);
    void begin_call(size_t index, const std::string& name);
    nlohmann::ordered_json logprobs(Choice& choice) const;
    nlohmann::ordered_json frame(const char* object, nlohmann::ordered_json choices) const;
    nlohmann::ordered_json whole_choice(size_t index);
    void fail(const ApiError& error);

    AnswerForm form_;
    ReplySink sink_;
    std::vector<Choice> choices_;
    Usage usage_;
    size_t missing_;
    bool has_failed_ = false;
};

}  // namespace tessera::serve
