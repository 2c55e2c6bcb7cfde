#include "llm/batch_engine.h"

#include <algorithm>
#include <utility>

#include "llm/pool_hidden.h"
#include "llm/sample.h"
#include "support/error.h"

namespace tessera::llm {

BatchEngine::BatchEngine(Session& session, const BatchOptions& options)
    : session_(session), options_(options), kept_(session) {
    const int64_t most = std::min({session.most_sequences(), step_tokens(), session.most_rows()});
    if (options.sequences < 1 || options.sequences > most)
        throw Error(
            session.manifest().model, "",
            fmt::format("cannot compute {} texts in one step: 1 to {} are possible", options.sequences, most),
            "choose fewer", ErrorKind::kUsage);
    TESSERA_CHECK(options.prompt_chunk > 0);
}

int64_t BatchEngine::step_tokens() const {
    const int64_t most = session_.most_tokens();
    return options_.step_tokens > 0 ? std::min(options_.step_tokens, most) : most;
}

BatchEngine::~BatchEngine() {
    for (Text& text : running_) session_.close(text.sequence);
}

void BatchEngine::check(const BatchRequest& request) const {
    llm::check(request.sampling);
    const std::string& model = session_.manifest().model;
    if (request.on_hidden) expect_hidden(session_);
    if (request.prompt.empty())
        throw Error(model, "", "cannot continue an empty prompt", "give a prompt of at least one token",
                    ErrorKind::kUsage);
    if (static_cast<int64_t>(request.prompt.size()) > session_.context())
        throw Error(model, "",
                    fmt::format("a prompt of {} tokens does not fit into the context of {}",
                                request.prompt.size(), session_.context()),
                    "shorten it", ErrorKind::kUsage);
    const auto expect_known = [&](TokenId id) {
        if (id < 0 || id >= session_.vocabulary())
            throw Error(model, "",
                        fmt::format("token {} is not of the vocabulary of {}", id, session_.vocabulary()), "",
                        ErrorKind::kUsage);
    };
    for (const TokenId id : request.prompt) expect_known(id);
    for (const auto& [id, bias] : request.sampling.logit_bias) expect_known(id);
}

uint64_t BatchEngine::submit(BatchRequest request) {
    check(request);
    const uint64_t seed = request.sampling.seed;
    waiting_.push_back({.number = ++next_number_, .request = std::move(request), .random = Pcg32(seed)});
    waiting_.back().history = waiting_.back().request.prompt;
    return next_number_;
}

void BatchEngine::cancel(uint64_t number) {
    for (Text& text : running_)
        if (text.number == number) text.is_cancelled = true;
    for (Text& text : waiting_)
        if (text.number == number) text.is_cancelled = true;
}

bool BatchEngine::wants_every_row(const BatchRequest& request) {
    return request.on_prompt || (request.on_hidden && request.pooling != Pooling::kLast);
}

void BatchEngine::finish(Text& text, StopReason reason) {
    text.has_ended = true;
    text.end.reason = reason;
}

/// Ends texts that were cancelled, or whose time is over.
void BatchEngine::remove_stopped() {
    const Clock::time_point now = Clock::now();
    const auto is_stopped = [&](Text& text) {
        text.end.is_late = !text.is_cancelled && text.request.deadline && *text.request.deadline <= now;
        if (!text.is_cancelled && !text.end.is_late) return false;
        finish(text, StopReason::kInterrupted);
        end(text);
        return true;
    };
    std::erase_if(waiting_, is_stopped);
    running_.remove_if(is_stopped);
}

/// Gives back what the text holds, and tells its owner.
void BatchEngine::end(Text& text) {
    if (text.sequence.index >= 0) {
        reserved_pages_ -= text.reserved_pages;
        text.history.resize(text.computed);
        if (options_.reuse_prefix && text.computed > 0 && !text.end.fault)
            kept_.keep(text.sequence, std::move(text.history));
        else
            session_.close(text.sequence);
        text.sequence = {};
    }
    if (text.request.on_end) text.request.on_end(text.end);
}

/// Moves requests from the queue to the running ones, in the order of arrival, as far as there is room.
void BatchEngine::admit() {
    while (!waiting_.empty()) {
        Text& next = waiting_.front();
        if (next.request.max_tokens <= 0 && !next.request.on_prompt && !next.request.on_hidden) {
            finish(next, StopReason::kMaxTokens);
            end(next);
        } else if (begin(next)) {
            running_.push_back(std::move(next));
        } else {
            return;
        }
        waiting_.pop_front();
    }
}

/// Opens a sequence with the pages of the longest text that the request can become; false where they are not
/// free.
bool BatchEngine::begin(Text& text) {
    const auto prompt = static_cast<int64_t>(text.request.prompt.size());
    // Of the last token nobody asks what follows.
    const int64_t longest = std::max(
        prompt,
        std::min(session_.context(), prompt + std::min(text.request.max_tokens - 1, session_.context())));
    const int64_t pages = session_.pages_for(longest);
    if (running() == options_.sequences || reserved_pages_ + pages > session_.pages()) return false;

    if (!wants_every_row(text.request)) text.sequence = kept_.take(text.request.prompt);
    while (kept_.size() > 0 && (reserved_pages_ + pages + kept_.pages() > session_.pages() ||
                                (text.sequence.index < 0 && running() + kept_.size() >= options_.sequences)))
        kept_.drop_oldest();
    if (text.sequence.index < 0) text.sequence = session_.open();
    // The batches of steps point into the history, which therefore never moves.
    text.history.reserve(static_cast<size_t>(longest) + 1);
    text.computed = static_cast<size_t>(session_.length(text.sequence));
    text.end.reused_tokens = static_cast<int64_t>(text.computed);
    text.reserved_pages = pages;
    reserved_pages_ += pages;
    return true;
}

/// One token of each text that has begun, then as much of the prompts as one step may have.
std::vector<Addition> BatchEngine::next_batch(std::vector<Share>& shares) {
    std::vector<Addition> batch;
    int64_t tokens = step_tokens(), rows = session_.most_rows(), of_prompts = options_.prompt_chunk;
    const auto add = [&](Text& text, int64_t count) {
        const std::span<const TokenId> all = text.history;
        const std::span<const TokenId> part = all.subspan(text.computed, static_cast<size_t>(count));
        std::vector<int32_t> wanted;
        if (wants_every_row(text.request) && text.computed < text.request.prompt.size())
            wanted = every_row(part);
        else if (text.computed + part.size() == all.size())
            wanted = last_row(part);
        tokens -= count;
        rows -= static_cast<int64_t>(wanted.size());
        shares.push_back({&text, text.computed});
        batch.push_back({text.sequence, part, std::move(wanted)});
    };
    const auto missing = [](const Text& text) {
        return static_cast<int64_t>(text.history.size() - text.computed);
    };
    const auto has_begun = [](const Text& text) { return text.history.size() > text.request.prompt.size(); };
    for (Text& text : running_)
        if (has_begun(text)) add(text, missing(text));
    for (Text& text : running_) {
        if (has_begun(text)) continue;
        int64_t count = std::min({missing(text), of_prompts, tokens, session_.longest_segment()});
        if (wants_every_row(text.request)) count = std::min(count, rows);
        if (count <= 0 || rows <= 0) continue;
        of_prompts -= count;
        add(text, count);
    }
    return batch;
}

/// The logits after the token at this position of the history.
void BatchEngine::take(Text& text, size_t position, std::span<const float> logits) {
    if (text.request.on_prompt && position < text.request.prompt.size())
        text.request.on_prompt(static_cast<int64_t>(position), logits);
    if (text.has_ended || position + 1 < text.history.size()) return;
    if (text.request.max_tokens <= 0) return finish(text, StopReason::kMaxTokens);
    try {
        const auto& constraint = text.request.constraint;
        const std::span<const float> allowed = constraint ? constraint->restricted(logits) : logits;
        accept(text, sample(allowed, text.history, text.request.sampling, text.random), logits);
    } catch (const Error& error) {  // logits that are no numbers, a grammar that allows none
        text.end.fault = error;
        finish(text, StopReason::kInterrupted);
    }
}

void BatchEngine::take_hidden(Text& text, size_t position, std::span<const float> hidden) {
    if (!text.request.on_hidden || text.has_ended || position >= text.request.prompt.size()) return;
    try {
        text.request.on_hidden(static_cast<int64_t>(position), hidden);
    } catch (const Error& error) {  // states that are no numbers
        text.end.fault = error;
        finish(text, StopReason::kInterrupted);
    }
}

/// Takes a token into the text, in the order of llm/generate.cpp.
void BatchEngine::accept(Text& text, TokenId id, std::span<const float> logits) {
    const std::vector<TokenId>& stops = text.request.stop_ids;
    if (std::find(stops.begin(), stops.end(), id) != stops.end()) return finish(text, StopReason::kStopId);
    const bool is_complete = text.request.constraint && text.request.constraint->accept(id);
    text.history.push_back(id);
    ++text.end.generated_tokens;
    if (text.request.on_token && text.request.on_token(id, logits))
        return finish(text, StopReason::kStopString);
    if (is_complete) return finish(text, StopReason::kComplete);
    if (text.end.generated_tokens >= text.request.max_tokens) return finish(text, StopReason::kMaxTokens);
    if (session_.length(text.sequence) == session_.context()) return finish(text, StopReason::kContext);
}

void BatchEngine::run(const std::vector<Addition>& batch, const std::vector<Share>& shares) {
    const auto take_logits = [&](size_t i, int32_t row, std::span<const float> logits) {
        take(*shares[i].text, shares[i].first + static_cast<size_t>(row), logits);
    };
    HiddenSink take_states;
    if (session_.hidden_width() > 0)
        take_states = [&](size_t i, int32_t row, std::span<const float> hidden) {
            take_hidden(*shares[i].text, shares[i].first + static_cast<size_t>(row), hidden);
        };
    try {
        session_.add(batch, take_logits, {}, take_states);
    } catch (const Error& error) {
        for (const Share& share : shares) {
            share.text->end.fault = error;
            finish(*share.text, StopReason::kInterrupted);
        }
    }
    for (size_t i = 0; i < shares.size(); ++i) {
        Text& text = *shares[i].text;
        const auto length = static_cast<size_t>(session_.length(text.sequence));
        if (text.computed < text.request.prompt.size())
            text.end.prompt_tokens += static_cast<int64_t>(length - text.computed);
        text.computed = length;
    }
}

bool BatchEngine::step() {
    remove_stopped();
    admit();
    if (running_.empty()) return false;
    std::vector<Share> shares;
    const std::vector<Addition> batch = next_batch(shares);
    TESSERA_CHECK(!batch.empty());
    run(batch, shares);
    running_.remove_if([&](Text& text) {
        if (text.has_ended) end(text);
        return text.has_ended;
    });
    return true;
}

}  // namespace tessera::llm
