#include "run/llm/batch_engine.h"

#include <algorithm>
#include <map>
#include <utility>

#include "run/llm/pool_hidden.h"
#include "run/llm/sample.h"
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
    if (request.max_tokens > 0 || request.on_prompt) expect_logits(session_);
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

/// Ends texts that were cancelled, or whose deadline has passed.
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

/// Gives back the resources of the text, and calls `on_end`.
void BatchEngine::end(Text& text) {
    if (text.sequence.index >= 0) {
        reserved_pages_ -= text.reserved_pages;
        text.history.resize(text.computed);
        if (options_.reuse_prefix && !session_.is_encoder() && text.computed > 0 && !text.end.fault)
            kept_.keep(text.sequence, std::move(text.history));
        else
            session_.close(text.sequence);
        text.sequence = {};
    }
    if (text.request.on_end) text.request.on_end(text.end);
}

void BatchEngine::remove_ended() {
    running_.remove_if([&](Text& text) {
        if (text.has_ended) end(text);
        return text.has_ended;
    });
}

/// The first waiting text whose group has the fewest places. A group of many texts gets at least one place at
/// a time, and lets others pass if it has more.
std::deque<BatchEngine::Text>::iterator BatchEngine::next_waiting() {
    std::map<uint64_t, int64_t> places;
    for (const Text& text : running_)
        if (text.request.group != 0) ++places[text.request.group];
    const auto places_of = [&](const Text& text) {
        const auto found = places.find(text.request.group);
        return found == places.end() ? 0 : found->second;
    };
    return std::min_element(waiting_.begin(), waiting_.end(),
                            [&](const Text& a, const Text& b) { return places_of(a) < places_of(b); });
}

/// Moves requests from the queue to the running ones, as far as there is room.
void BatchEngine::admit() {
    while (!waiting_.empty() && running() < options_.sequences) {
        const auto next = next_waiting();
        if (next->request.max_tokens <= 0 && !next->request.on_prompt && !next->request.on_hidden) {
            finish(*next, StopReason::kMaxTokens);
            end(*next);
        } else if (begin(*next)) {
            running_.push_back(std::move(*next));
        } else {
            return;
        }
        waiting_.erase(next);
    }
}

/// Pages that running texts have reserved and do not hold yet.
int64_t BatchEngine::pages_to_come() const {
    int64_t pages = 0;
    for (const Text& text : running_)
        pages += text.reserved_pages - session_.pages_for(session_.length(text.sequence));
    return pages;
}

/// Opens a sequence with the pages of the longest text that the request can become; false if they are not
/// free.
bool BatchEngine::begin(Text& text) {
    const auto prompt = static_cast<int64_t>(text.request.prompt.size());
    // The last token is never computed.
    const int64_t longest = std::max(
        prompt,
        std::min(session_.context(), prompt + std::min(text.request.max_tokens - 1, session_.context())));
    const int64_t pages = session_.pages_for(longest);
    if (reserved_pages_ + pages > session_.pages()) return false;

    if (!wants_every_row(text.request) && !session_.is_encoder())
        text.sequence = kept_.take(text.request.prompt);
    while (text.sequence.index < 0 && kept_.size() > 0 && session_.open_sequences() == session_.most_open())
        kept_.drop_oldest();
    if (text.sequence.index < 0) text.sequence = session_.open();
    // Shared pages are counted for each of the sequences, so dropping all kept ones is enough.
    const int64_t missing = pages - session_.pages_for(session_.length(text.sequence));
    while (kept_.size() > 0 && pages_to_come() + missing > session_.free_pages()) kept_.drop_oldest();
    // The batches of steps point into the history, so it must never move.
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
    std::vector<Text*> reading;
    for (Text& text : running_) {
        if (text.last || !text.held.empty()) continue;
        if (text.history.size() > text.request.prompt.size())
            add(text, missing(text));
        else
            reading.push_back(&text);
    }
    // The shortest rest first, as the others take what it leaves of its share.
    std::stable_sort(reading.begin(), reading.end(),
                     [&](const Text* a, const Text* b) { return missing(*a) < missing(*b); });
    for (size_t i = 0; i < reading.size(); ++i) {
        Text& text = *reading[i];
        const auto sharing = static_cast<int64_t>(reading.size() - i);
        const int64_t share = (std::min(of_prompts, tokens) + sharing - 1) / sharing;
        int64_t count = std::min({missing(text), share, session_.longest_segment()});
        if (wants_every_row(text.request)) count = std::min(count, rows);
        if (session_.is_encoder()) {
            // A whole text, or nothing in this step.
            count = missing(text);
            if (count > tokens || count > rows) continue;
        }
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
    const auto& constraint = text.request.constraint;
    if (constraint && !constraint->is_ready())
        text.held.assign(logits.begin(), logits.end());
    else
        choose(text, logits);
}

void BatchEngine::choose(Text& text, std::span<const float> logits) {
    try {
        const auto& constraint = text.request.constraint;
        const bool has_begun = text.history.size() > text.request.prompt.size();
        if (constraint && has_begun && constraint->is_complete()) return finish(text, StopReason::kComplete);
        const std::span<const float> allowed = constraint ? constraint->restricted(logits) : logits;
        accept(text, sample(allowed, text.history, text.request.sampling, text.random), logits);
    } catch (const Error& error) {  // logits that are not finite, a grammar that allows none
        text.end.fault = error;
        finish(text, StopReason::kInterrupted);
    }
}

/// Continues a text whose constraint may have become ready.
void BatchEngine::settle(Text& text) {
    const auto& constraint = text.request.constraint;
    if (!constraint || !constraint->is_ready()) return;
    if (!text.held.empty()) {
        const std::vector<float> logits = std::exchange(text.held, {});
        return choose(text, logits);
    }
    if (text.history.size() == text.request.prompt.size()) return;
    try {
        if (constraint->is_complete())
            finish(text, StopReason::kComplete);
        else if (text.last)
            finish(text, *text.last);
    } catch (const Error& error) {
        text.end.fault = error;
        finish(text, StopReason::kInterrupted);
    }
}

void BatchEngine::take_hidden(Text& text, size_t position, std::span<const float> hidden) {
    if (!text.request.on_hidden || text.has_ended || position >= text.request.prompt.size()) return;
    try {
        text.request.on_hidden(static_cast<int64_t>(position), hidden);
    } catch (const Error& error) {  // states that are not finite
        text.end.fault = error;
        finish(text, StopReason::kInterrupted);
    }
}

/// Takes a token into the text, in the order of run/llm/generate.cpp.
void BatchEngine::accept(Text& text, TokenId id, std::span<const float> logits) {
    const std::vector<TokenId>& stops = text.request.stop_ids;
    if (std::find(stops.begin(), stops.end(), id) != stops.end()) {
        if (text.request.on_stop_id) text.request.on_stop_id(id, logits);
        return finish(text, StopReason::kStopId);
    }
    const auto& constraint = text.request.constraint;
    if (constraint) constraint->accept(id);
    text.history.push_back(id);
    ++text.end.generated_tokens;
    if (text.request.on_token && text.request.on_token(id, logits))
        return finish(text, StopReason::kStopString);
    if (text.end.generated_tokens >= text.request.max_tokens)
        text.last = StopReason::kMaxTokens;
    else if (session_.length(text.sequence) == session_.context())
        text.last = StopReason::kContext;
    if (constraint)
        settle(text);
    else if (text.last)
        finish(text, *text.last);
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
    for (Text& text : running_) settle(text);
    remove_ended();
    admit();
    awaits_constraints_ = false;
    if (running_.empty()) return false;
    std::vector<Share> shares;
    const std::vector<Addition> batch = next_batch(shares);
    awaits_constraints_ = batch.empty();
    if (batch.empty()) return true;
    run(batch, shares);
    remove_ended();
    return true;
}

}  // namespace tessera::llm
