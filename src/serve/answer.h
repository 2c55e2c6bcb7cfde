#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "serve/answer_json.h"
#include "serve/reply.h"
#include "tessera/engine.h"

namespace tessera::serve {

struct AnswerForm {
    std::string id;
    std::string model;
    int64_t created = 0;  ///< seconds since 1970
    bool is_chat = false;
    bool streams = false;
    bool includes_usage = false;
    bool has_logprobs = false;
    std::vector<std::string> echoes;  ///< of each choice, the text before that of the model
};

/// Makes the answer of one request of what the engine tells: one choice for each prompt. Whole answers come
/// at the end; streams are events as the text comes. All calls come from the thread of the engine.
class Answer {
public:
    Answer(AnswerForm form, ReplySink sink);

    void add_prompt(size_t choice, TokenReport token);
    void add_text(size_t choice, std::optional<TokenReport> token, const std::string& text);
    /// The choice is complete. The last one, or the first one that failed, ends the answer.
    void end(size_t choice, const EngineEnd& end);

private:
    struct Choice {
        std::string text;
        std::vector<TokenReport> tokens;  ///< not sent yet
        int64_t offset = 0;               ///< characters before them
        const char* finish_reason = nullptr;
        bool has_begun = false;
        bool has_ended = false;
    };

    void begin(size_t index);
    void send_chunk(size_t index, const std::string& text);
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
