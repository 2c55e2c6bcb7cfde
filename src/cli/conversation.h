#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/model_text.h"
#include "tessera/model.h"

namespace tessera::cli {

/// How `chat` makes answers.
struct AnswerSettings {
    ChatSettings chat;
    SamplingOptions sampling;
    std::optional<int64_t> tokens;  ///< most of one answer; unset: what the context leaves
    std::vector<std::string> stop;
    std::optional<Grammar> grammar;  ///< of every answer
    bool folds_thinking = false;
    bool reuse_prefix = true;
};

/// A conversation with a model: its messages, and the answers as they come.
class Conversation {
public:
    /// @pre `text` has a tokenizer and a chat template; all three outlive the conversation
    Conversation(Model& model, const ModelText& text, const AnswerSettings& settings);

    const std::vector<ChatMessage>& messages() const { return messages_; }
    void replace(std::vector<ChatMessage> messages) { messages_ = std::move(messages); }
    /// Forgets everything but what the model is told before the conversation.
    void clear();
    /// The text that the model is told before the conversation; may be empty.
    std::string system() const;
    void set_system(const std::string& text);

    /// Says something, and shows the answer on stdout as it comes. Without an answer it says so on stderr,
    /// drops the message and returns false. Ctrl-C ends the answer, whose beginning stays.
    bool say(const std::string& text);
    /// Another answer to the last message; false as above, and where nothing was said yet.
    bool retry();

    bool is_greedy() const { return settings_.sampling.temperature == 0; }
    const GenerateStatistics& statistics() const { return statistics_; }

private:
    bool answer();

    Model& model_;
    const ModelText& text_;
    const AnswerSettings& settings_;
    std::vector<TokenId> ends_;
    std::vector<ChatMessage> messages_;
    uint64_t answers_ = 0;  ///< each is drawn with a seed of its own
    GenerateStatistics statistics_;
};

}  // namespace tessera::cli
