#include "llm/generate.h"

#include <algorithm>
#include <chrono>

#include "llm/text_stream.h"
#include "support/error.h"

namespace tessera::llm {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// A text in the making. `text_ends_with(id)`: the id is the last one of the text.
template <typename TextEndsWith>
class Loop {
public:
    Loop(Session& session, SequenceId sequence, const GenerateOptions& options, TextEndsWith text_ends_with)
        : session_(session),
          sequence_(sequence),
          options_(options),
          text_ends_with_(std::move(text_ends_with)),
          random_(options.sampling.seed) {
        check(options.sampling);
    }

    Generation run(std::span<const TokenId> prompt) && {
        GenerateStatistics& statistics = result_.statistics;
        if (options_.max_tokens <= 0) return std::move(result_);
        history_.assign(prompt.begin(), prompt.end());
        const int64_t before = session_.length(sequence_);
        Clock::time_point start = Clock::now();
        bool is_known = compute(prompt);
        statistics.prompt_seconds = seconds_since(start);
        statistics.prompt_tokens = session_.length(sequence_) - before;

        start = Clock::now();
        while (is_known && accept()) {
            is_known = compute({&next_, 1});
            if (is_known) ++statistics.decode_steps;
        }
        statistics.decode_seconds = seconds_since(start);
        if (!is_known) result_.reason = StopReason::kInterrupted;
        return std::move(result_);
    }

private:
    /// Adds tokens and chooses the next one; false where that was interrupted.
    bool compute(std::span<const TokenId> tokens) {
        const Addition addition{sequence_, tokens, last_row(tokens)};
        return session_.add(
            {&addition, 1},
            [&](size_t, int32_t, std::span<const float> logits) {
                next_ = sample(logits, history_, options_.sampling, random_);
            },
            options_.should_stop);
    }

    /// Takes the next token into the text; false where the text ends with it, or before it.
    bool accept() {
        const auto ends = [&](StopReason reason) {
            result_.reason = reason;
            return false;
        };
        if (std::find(options_.stop_ids.begin(), options_.stop_ids.end(), next_) != options_.stop_ids.end())
            return ends(StopReason::kStopId);
        result_.ids.push_back(next_);
        history_.push_back(next_);
        if (options_.on_token) options_.on_token(next_);
        if (text_ends_with_(next_)) return ends(StopReason::kStopString);
        if (static_cast<int64_t>(result_.ids.size()) >= options_.max_tokens)
            return ends(StopReason::kMaxTokens);
        if (session_.length(sequence_) == session_.context()) return ends(StopReason::kContext);
        return true;
    }

    Session& session_;
    const SequenceId sequence_;
    const GenerateOptions& options_;
    TextEndsWith text_ends_with_;
    Pcg32 random_;
    std::vector<TokenId> history_;
    TokenId next_ = 0;
    Generation result_;
};

/// A sequence that is closed when its text ends, however it ends.
class OwnSequence {
public:
    explicit OwnSequence(Session& session) : session_(session), id_(session.open()) {}
    OwnSequence(const OwnSequence&) = delete;
    OwnSequence& operator=(const OwnSequence&) = delete;
    ~OwnSequence() { session_.close(id_); }
    SequenceId id() const { return id_; }

private:
    Session& session_;
    SequenceId id_;
};

bool has_text(const Tokenizer& tokenizer, TokenId id) {
    const bool is_known = id >= 0 && static_cast<size_t>(id) < tokenizer.vocabulary_size();
    return is_known && !tokenizer.is_special(id) && !tokenizer.token_bytes(id).empty();
}

}  // namespace

Generation generate(Session& session, SequenceId sequence, std::span<const TokenId> prompt,
                    const GenerateOptions& options) {
    TESSERA_CHECK(options.stop_strings.empty() && !options.on_text, "text without a tokenizer");
    return Loop(session, sequence, options, [](TokenId) { return false; }).run(prompt);
}

Generation generate(Session& session, const Tokenizer& tokenizer, std::span<const TokenId> prompt,
                    GenerateOptions options) {
    if (prompt.empty())
        throw Error(session.manifest().model, "",
                    "cannot continue an empty prompt: the model has no BOS token",
                    "give a prompt of at least one token");
    if (!options.past_end)
        options.stop_ids.insert(options.stop_ids.end(), tokenizer.eos().begin(), tokenizer.eos().end());

    const bool at_start =
        std::none_of(prompt.begin(), prompt.end(), [&](TokenId id) { return has_text(tokenizer, id); });
    TextStream stream(tokenizer, options.stop_strings, at_start);
    std::string text;
    const auto release = [&](const std::string& piece) {
        if (piece.empty()) return;
        text += piece;
        if (options.on_text) options.on_text(piece);
    };
    const OwnSequence sequence(session);
    Generation result = Loop(session, sequence.id(), options, [&](TokenId id) {
                            release(stream.push(id));
                            return stream.found_stop();
                        }).run(prompt);
    release(stream.finish());
    if (stream.found_stop()) result.reason = StopReason::kStopString;
    result.text = std::move(text);
    return result;
}

}  // namespace tessera::llm
