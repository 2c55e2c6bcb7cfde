#include "run/llm/generate.h"

#include <algorithm>
#include <chrono>

#include "run/llm/text_stream.h"
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
    /// `constraint` may be null.
    Loop(Session& session, SequenceId sequence, const GenerateOptions& options, GrammarConstraint* constraint,
         TextEndsWith text_ends_with)
        : session_(session),
          sequence_(sequence),
          options_(options),
          constraint_(constraint),
          text_ends_with_(std::move(text_ends_with)),
          random_(options.sampling.seed) {
        check(options.sampling);
    }

    /// `held`: so many tokens of the prompt are in the sequence already. @pre fewer than all
    Generation run(std::span<const TokenId> prompt, size_t held) && {
        GenerateStatistics& statistics = result_.statistics;
        statistics.reused_tokens = static_cast<int64_t>(held);
        if (options_.max_tokens <= 0) return std::move(result_);
        history_.assign(prompt.begin(), prompt.end());
        const int64_t before = session_.length(sequence_);
        Clock::time_point start = Clock::now();
        bool is_known = compute_prompt(prompt, held);
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
                if (constraint_ != nullptr) logits = constraint_->restricted(logits);
                next_ = sample(logits, history_, options_.sampling, random_);
            },
            options_.should_stop);
    }

    /// The rest of a prompt, in the steps that the whole of it would have.
    bool compute_prompt(std::span<const TokenId> prompt, size_t held) {
        const auto segment = static_cast<size_t>(session_.longest_segment());
        for (size_t begin = held;;) {
            const size_t end =
                held == 0 ? prompt.size() : std::min(prompt.size(), (begin / segment + 1) * segment);
            if (end == prompt.size()) return compute(prompt.subspan(begin));
            const Addition addition{sequence_, prompt.subspan(begin, end - begin), {}};
            if (!session_.add(
                    {&addition, 1}, [](size_t, int32_t, std::span<const float>) {}, options_.should_stop))
                return false;
            begin = end;
        }
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
        if (constraint_ != nullptr) constraint_->accept(next_);
        if (options_.on_token) options_.on_token(next_);
        if (text_ends_with_(next_)) return ends(StopReason::kStopString);
        if (constraint_ != nullptr && constraint_->is_complete()) return ends(StopReason::kComplete);
        if (static_cast<int64_t>(result_.ids.size()) >= options_.max_tokens)
            return ends(StopReason::kMaxTokens);
        if (session_.length(sequence_) == session_.context()) return ends(StopReason::kContext);
        return true;
    }

    Session& session_;
    const SequenceId sequence_;
    const GenerateOptions& options_;
    GrammarConstraint* const constraint_;
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

/// The sequence holds the first `held` tokens of the prompt.
Generation generate_text(Session& session, const Tokenizer& tokenizer, SequenceId sequence,
                         GrammarCache& grammars, std::span<const TokenId> prompt, size_t held,
                         GenerateOptions options) {
    if (prompt.empty())
        throw Error(session.manifest().model, "",
                    "cannot continue an empty prompt: the model has no BOS token",
                    "give a prompt of at least one token");
    if (!options.past_end)
        options.stop_ids.insert(options.stop_ids.end(), tokenizer.eos().begin(), tokenizer.eos().end());

    std::optional<GrammarConstraint> constraint;
    if (options.grammar)
        constraint.emplace(grammars.rules(tokenizer, *options.grammar), tokenizer, options.stop_ids);
    // A grammar sees every byte, so none may be taken off at the front.
    const bool at_start = !constraint && std::none_of(prompt.begin(), prompt.end(),
                                                      [&](TokenId id) { return has_text(tokenizer, id); });
    TextStream stream(tokenizer, options.stop_strings, at_start);
    std::string text;
    const auto release = [&](const std::string& piece) {
        if (piece.empty()) return;
        text += piece;
        if (options.on_text) options.on_text(piece);
    };
    Generation result =
        Loop(session, sequence, options, constraint ? &*constraint : nullptr, [&](TokenId id) {
            release(stream.push(id));
            return stream.found_stop();
        }).run(prompt, held);
    release(stream.finish());
    if (stream.found_stop()) result.reason = StopReason::kStopString;
    result.text = std::move(text);
    return result;
}

}  // namespace

Generation generate(Session& session, SequenceId sequence, std::span<const TokenId> prompt,
                    const GenerateOptions& options) {
    TESSERA_CHECK(options.stop_strings.empty() && !options.on_text && !options.grammar,
                  "text without a tokenizer");
    return Loop(session, sequence, options, nullptr, [](TokenId) { return false; }).run(prompt, 0);
}

Generation generate(Session& session, const Tokenizer& tokenizer, std::span<const TokenId> prompt,
                    GenerateOptions options) {
    const OwnSequence sequence(session);
    GrammarCache grammars;
    return generate_text(session, tokenizer, sequence.id(), grammars, prompt, 0, std::move(options));
}

int64_t lasting_length(int64_t prompt, const PromptSteps& steps) {
    const int64_t last = prompt % steps.segment;
    return last <= steps.small ? prompt - last : prompt;
}

int64_t reused_length(int64_t alike, int64_t prompt, const PromptSteps& steps) {
    if (prompt == 0) return 0;
    // The last token is computed in any case: the next one follows from its logits.
    const int64_t held = std::min(alike, prompt - 1);
    const int64_t begin = held / steps.segment * steps.segment;
    const int64_t end = std::min(begin + steps.segment, prompt);
    return std::max(begin, std::min(held, end - steps.small - 1));
}

void KeptSequence::close() {
    if (sequence_) session_.close(*sequence_);
    sequence_.reset();
    ids_.clear();
}

Generation KeptSequence::generate(const Tokenizer* tokenizer, std::span<const TokenId> prompt,
                                  GenerateOptions options) {
    if (!sequence_) sequence_ = session_.open();
    const auto alike =
        std::mismatch(ids_.begin(), ids_.end(), prompt.begin(), prompt.end()).second - prompt.begin();
    const PromptSteps steps{session_.longest_segment(), session_.longest_small_step()};
    const auto count = static_cast<int64_t>(prompt.size());
    const auto held =
        static_cast<size_t>(session_.own_length(*sequence_, reused_length(alike, count, steps)));
    session_.shorten(*sequence_, static_cast<int64_t>(held));
    ids_.clear();
    try {
        Generation result = tokenizer != nullptr ? generate_text(session_, *tokenizer, *sequence_, grammars_,
                                                                 prompt, held, std::move(options))
                                                 : Loop(session_, *sequence_, options, nullptr, [](TokenId) {
                                                       return false;
                                                   }).run(prompt, held);
        const int64_t lasting = std::min(session_.length(*sequence_), lasting_length(count, steps));
        ids_.assign(prompt.begin(), prompt.begin() + lasting);
        return result;
    } catch (...) {
        close();
        throw;
    }
}

}  // namespace tessera::llm
