#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/embedding.h"
#include "tessera/error.h"
#include "tessera/generation.h"
#include "tessera/model.h"

/// Many texts at the same time.
namespace tessera {

struct EngineSettings {
    int64_t context = 0;    ///< tokens of the longest sequence; 0: as many as the model allows
    int64_t sequences = 0;  ///< texts that are computed at one time; 0: as many as one step of the code takes
    int64_t cache_tokens = 0;  ///< that the cache holds of all texts together; 0: all at full length
    /// The most requests that wait for a place; beyond it, more are refused. Requests that are submitted
    /// together are taken whole, and computed in turns if they exceed it.
    int64_t waiting = 64;
    int64_t prompt_chunk = 128;  ///< most tokens of prompts in one step
    bool reuse_prefix = true;    ///< prompts that begin like an ended text reuse its beginning
    /// The result of a request does not depend on the others, on the chunks of its prompt, or on the prefix
    /// that was reused. Every step is then computed by one specialisation; false: by the fastest for it,
    /// which may round otherwise.
    bool batch_invariant = true;
};

struct TokenProbability {
    TokenId id = 0;
    double log_probability = 0;
    std::string bytes = {};  ///< that it adds to a text; may be part of a character
};

/// A token of a prompt or text, with its probability by the model itself, before the sampling options.
struct TokenReport {
    TokenId id = 0;
    std::string bytes = {};  ///< that it adds to a text; may be part of a character
    /// Unset for the first token of a prompt.
    std::optional<double> log_probability = {};
    std::vector<TokenProbability> likeliest = {};  ///< the most probable first, ties by id
};

/// The end of a text.
struct EngineEnd {
    StopReason reason = StopReason::kMaxTokens;
    bool is_late = false;        ///< interrupted by its deadline
    std::optional<Error> fault;  ///< the failure
    int64_t prompt_tokens = 0;   ///< all, computed or reused
    int64_t reused_tokens = 0;   ///< of the prompt, that were not computed
    int64_t generated_tokens = 0;
};

/// The callbacks come from the thread of the engine: they must return soon, and not throw.
struct EngineRequest {
    std::vector<TokenId> prompt;
    int64_t max_tokens = 128;            ///< 0: none; then only the prompt can be reported
    SamplingOptions sampling = {};       ///< default: greedy
    std::vector<TokenId> stop_ids = {};  ///< end the text and are not part of it
    bool past_end = false;               ///< true: the model's own end-of-text ids do not end the text
    std::vector<std::string> stop_strings = {};  ///< likewise; none may be empty
    std::optional<Grammar> grammar = {};         ///< GenerateOptions::grammar
    std::optional<std::chrono::steady_clock::time_point> deadline = {};
    /// Reports of tokens with this many of the likeliest ones; unset: without probabilities.
    std::optional<int64_t> likeliest = {};
    /// Called with every token of the prompt, which is then computed in any case.
    std::function<void(TokenReport)> on_prompt = {};
    /// Called with the embedding of the prompt; only if ModelFile::embedding_width is not 0.
    std::function<void(std::vector<float>)> on_embedding = {};
    EmbedOptions embedding = {};  ///< of `on_embedding`
    /// Called with every token of the text, and the text that is now certain, in whole characters. The last
    /// call may bring text without a token.
    std::function<void(std::optional<TokenReport> token, std::string text)> on_text = {};
    /// Called with the token that ended the text (StopReason::kStopId), which is not part of it.
    std::function<void(TokenReport)> on_stop_id = {};
    std::function<void(const EngineEnd&)> on_end = {};  ///< called once, last
};

/// Counts since the engine was started.
struct EngineStatistics {
    int64_t running = 0;
    int64_t waiting = 0;
    int64_t pages = 0;            ///< of the cache
    int64_t available_pages = 0;  ///< that no running text needs
    int64_t steps = 0;
    double step_seconds = 0;
    int64_t prompt_tokens = 0;  ///< that were computed, of requests that have ended
    int64_t reused_tokens = 0;
    int64_t generated_tokens = 0;
    int64_t finished = 0;
    int64_t interrupted = 0;  ///< cancelled or late
    int64_t failed = 0;
};

/// A language model that continues many prompts at the same time, in a thread of its own. All functions may
/// be called by any thread.
class Engine {
public:
    /// @throws Error as Model does, and if the artefact has no tokenizer or the settings are beyond its code.
    explicit Engine(ModelFile file, const EngineSettings& settings = {});
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;
    ~Engine();  ///< ends all requests

    const ModelFile& file() const;
    int64_t context() const;
    int64_t sequences() const;
    int64_t memory_bytes() const;  ///< cache and intermediate buffers

    /// Takes all of the requests, or none if others fill the places and the queue. Those waiting requests go
    /// first whose companions have the fewest places. @return their numbers; empty: refused.
    /// @throws Error (kUsage) naming the part of a request that cannot be computed; then none is taken.
    std::vector<uint64_t> submit(std::vector<EngineRequest> requests);
    /// Ends a request within one step. Does nothing if it has ended.
    void cancel(uint64_t number);
    EngineStatistics statistics() const;

private:
    struct Contents;
    std::unique_ptr<Contents> contents_;
};

}  // namespace tessera
