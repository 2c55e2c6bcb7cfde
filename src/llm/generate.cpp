#include "llm/generate.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "llm/utf8_stream.h"
#include "support/error.h"

namespace tessera {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

TokenId next_token(Session& session, SequenceId sequence, std::span<const TokenId> tokens) {
    TokenId next = 0;
    const Addition addition{sequence, tokens, last_row(tokens)};
    session.add({&addition, 1},
                [&](size_t, int32_t, std::span<const float> logits) { next = argmax(logits); });
    return next;
}

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

}  // namespace

TokenId argmax(std::span<const float> logits) {
    TESSERA_CHECK(!logits.empty());
    size_t best = 0;
    for (size_t i = 0; i < logits.size(); ++i) {
        if (std::isnan(logits[i]))
            throw Error("", "", fmt::format("the logit of token {} is not a number", i),
                        "the weights may be damaged: compile the model again");
        if (logits[i] > logits[best]) best = i;
    }
    return static_cast<TokenId>(best);
}

Generation generate(Session& session, SequenceId sequence, std::span<const TokenId> prompt,
                    const GenerateOptions& options, const std::function<void(TokenId)>& on_token) {
    Generation result;
    GenerateStatistics& statistics = result.statistics;
    statistics.prompt_tokens = static_cast<int64_t>(prompt.size());
    if (options.max_tokens <= 0) return result;
    Clock::time_point start = Clock::now();
    TokenId next = next_token(session, sequence, prompt);
    statistics.prompt_seconds = seconds_since(start);

    start = Clock::now();
    while (true) {
        if (std::find(options.stop.begin(), options.stop.end(), next) != options.stop.end()) {
            result.reason = StopReason::kStopToken;
            break;
        }
        result.ids.push_back(next);
        on_token(next);
        if (static_cast<int64_t>(result.ids.size()) >= options.max_tokens) break;
        if (session.length(sequence) == session.context()) {
            result.reason = StopReason::kContext;
            break;
        }
        next = next_token(session, sequence, {&next, 1});
        ++statistics.decode_steps;
    }
    statistics.decode_seconds = seconds_since(start);
    return result;
}

Generation generate(Session& session, const Tokenizer& tokenizer, std::string_view prompt,
                    GenerateOptions options, const std::function<void(std::string_view)>& on_text) {
    const std::vector<TokenId> ids = tokenizer.encode(prompt, {.add_special = true});
    if (ids.empty())
        throw Error(session.manifest().model, "",
                    "cannot continue an empty prompt: the model has no BOS token",
                    "give a prompt of at least one token");
    options.stop.insert(options.stop.end(), tokenizer.eos().begin(), tokenizer.eos().end());

    const OwnSequence sequence(session);
    Utf8Stream stream;
    const auto release = [&](const std::string& text) {
        if (!text.empty()) on_text(text);
    };
    // At the very beginning a token may lose the space that it has inside a text.
    bool has_begun = !prompt.empty();
    Generation result = generate(session, sequence.id(), ids, options, [&](TokenId token) {
        release(stream.push(has_begun ? tokenizer.token_bytes(token) : tokenizer.decode({&token, 1})));
        has_begun = true;
    });
    release(stream.finish());
    return result;
}

}  // namespace tessera
