#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "run/llm/grammar_constraint.h"
#include "run/llm/kept_prefixes.h"
#include "run/llm/pcg32.h"
#include "run/llm/session.h"
#include "tessera/embedding.h"
#include "tessera/error.h"
#include "tessera/generation.h"

namespace tessera::llm {

struct BatchOptions {
    int64_t sequences = 1;       ///< that run at one time: at most those of the session
    int64_t prompt_chunk = 128;  ///< most prompt tokens in one step, which they make longer
    int64_t step_tokens = 0;     ///< most tokens of one step; 0: as many as the code takes
    bool reuse_prefix = true;    ///< keep the keys and values of ended texts while their pages are not needed
                                 ///< (SessionOptions::kept)
};

/// The end of a request.
struct BatchEnd {
    StopReason reason = StopReason::kMaxTokens;
    bool is_late = false;        ///< interrupted by its deadline
    std::optional<Error> fault;  ///< the failure; other requests go on
    int64_t prompt_tokens = 0;   ///< that were computed
    int64_t reused_tokens = 0;   ///< of the prompt, that were kept
    int64_t generated_tokens = 0;
};

/// The request for a text. The callbacks come from BatchEngine::step, and must not throw.
struct BatchRequest {
    std::vector<TokenId> prompt;
    uint64_t group = 0;  ///< shared by requests that were made together; 0: none
    int64_t max_tokens = 128;
    SamplingOptions sampling = {};
    std::vector<TokenId> stop_ids = {};
    std::shared_ptr<GrammarConstraint> constraint = {};  ///< of this text alone, with its ends; null: none
    std::optional<std::chrono::steady_clock::time_point> deadline = {};
    /// Called with the logits after every token of the prompt, by its position. Without it only those after
    /// the last one are computed.
    std::function<void(int64_t position, std::span<const float> logits)> on_prompt = {};
    /// Called with the hidden states of the prompt that its pooling takes, by their positions: of all tokens
    /// or of the last one. Only if the session gives them. It may throw an Error, which ends the text.
    std::function<void(int64_t position, std::span<const float> hidden)> on_hidden = {};
    Pooling pooling = Pooling::kMean;  ///< of `on_hidden`
    /// Called with every id of the text and the logits that chose it. True: the text ends with it.
    std::function<bool(TokenId id, std::span<const float> logits)> on_token = {};
    /// Called with the stop id that ends the text, likewise.
    std::function<void(TokenId id, std::span<const float> logits)> on_stop_id = {};
    std::function<void(const BatchEnd&)> on_end = {};  ///< called once, last
};

/// Generates many texts over one session. Every step is a batch of one token of each begun text, and chunks
/// of the prompts of the others. Source: Yu et al., "Orca: A Distributed Serving System for Transformer-Based
/// Generative Models" (OSDI 2022), 3.2, iteration-level scheduling; prompts in chunks beside it: Agrawal et
/// al., "Taming Throughput-Latency Tradeoff in LLM Inference with Sarathi-Serve" (2024).
///
///     step     1          2          3          4
///     A        prompt     a1         a2         a3 end
///     B                   prompt     prompt     b1        a longer prompt than one chunk
///     C                              waits      prompt    until pages for its longest text are free
///
/// Requests begin in the order of arrival, groups with the fewest places first, once the pages of their
/// longest possible text are free: a text that has begun is never put off. Prompts that are read at the same
/// time share a step evenly, so a short one does not wait for a long one. A text whose constraint is not
/// ready skips steps, alone. The draws of a request depend on its seed and its logits alone.
class BatchEngine {
public:
    using Clock = std::chrono::steady_clock;

    /// @throws Error if the options ask for more than a step can have.
    BatchEngine(Session& session, const BatchOptions& options);
    BatchEngine(const BatchEngine&) = delete;
    BatchEngine& operator=(const BatchEngine&) = delete;
    ~BatchEngine();

    /// Reads constants only: any thread may call it. @throws Error naming what cannot be computed.
    void check(const BatchRequest& request) const;
    /// Queues a request. @return its number. @throws as check
    uint64_t submit(BatchRequest request);
    /// Ends a request before the next step and frees its pages. Does nothing if it has ended.
    void cancel(uint64_t number);

    /// Computes one step. @return true if there was anything to do. @throws Error if the step failed: all
    /// requests that took part have then ended.
    bool step();
    /// True if the last step had nothing to compute because every text waits for its constraint.
    bool awaits_constraints() const { return awaits_constraints_; }

    int64_t running() const { return static_cast<int64_t>(running_.size()); }
    int64_t waiting() const { return static_cast<int64_t>(waiting_.size()); }
    /// Pages that no running text has reserved: free ones, and those of kept prefixes.
    int64_t available_pages() const { return session_.pages() - reserved_pages_; }

private:
    struct Text {
        uint64_t number;
        BatchRequest request;
        Pcg32 random;
        bool is_cancelled = false;
        SequenceId sequence = {};
        int64_t reserved_pages = 0;
        std::vector<TokenId> history = {};  ///< prompt and text
        size_t computed = 0;                ///< tokens of `history` that are in the cache
        /// The logits that choose the next token, while the constraint is not ready; else empty.
        std::vector<float> held = {};
        /// The text ends here, unless the constraint gives another reason.
        std::optional<StopReason> last = {};
        bool has_ended = false;
        BatchEnd end = {};
    };
    /// The part of a text that a step computes.
    struct Share {
        Text* text;
        size_t first;  ///< in the history
    };

    /// True if every row of the prompt is wanted, so that none can be reused.
    static bool wants_every_row(const BatchRequest& request);
    static void finish(Text& text, StopReason reason);
    void remove_stopped();
    void remove_ended();
    std::deque<Text>::iterator next_waiting();
    void admit();
    bool begin(Text& text);
    int64_t pages_to_come() const;
    void settle(Text& text);
    void end(Text& text);
    int64_t step_tokens() const;
    std::vector<Addition> next_batch(std::vector<Share>& shares);
    void take(Text& text, size_t position, std::span<const float> logits);
    static void take_hidden(Text& text, size_t position, std::span<const float> hidden);
    void choose(Text& text, std::span<const float> logits);
    void accept(Text& text, TokenId id, std::span<const float> logits);
    void run(const std::vector<Addition>& batch, const std::vector<Share>& shares);

    Session& session_;
    BatchOptions options_;
    KeptPrefixes kept_;
    uint64_t next_number_ = 0;
    int64_t reserved_pages_ = 0;
    bool awaits_constraints_ = false;
    std::deque<Text> waiting_;
    std::list<Text> running_;  ///< in the order of arrival
};

}  // namespace tessera::llm
