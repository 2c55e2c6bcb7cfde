#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "run/llm/page_allocator.h"
#include "run/llm/step_interface.h"
#include "run/runtime/manifest.h"

namespace tessera::llm {

/// The handle of a sequence of tokens that a session remembers.
struct SequenceId {
    int index = -1;
    bool operator==(const SequenceId&) const = default;
};

struct SessionOptions {
    int64_t context = 0;    ///< tokens of the longest sequence; 0: as many as the model allows
    int64_t sequences = 1;  ///< open at one time; the cache has room for their tokens
    int64_t chunk = 0;      ///< most tokens of one sequence in one step; 0: as many as the code takes
    /// Tokens that the cache holds for all sequences together, at least one of full length; 0: all at full
    /// length. A smaller cache may run out of pages; the caller must prevent it (run/llm/batch_engine.h).
    int64_t cached = 0;
    int64_t kept = 0;  ///< more sequences that may be open, in the space that the others leave
};

/// The tokens that one call adds to one sequence.
struct Addition {
    SequenceId sequence;
    std::span<const int32_t> tokens;  ///< at least one
    std::vector<int32_t> rows;        ///< ascending positions in `tokens` after which the logits are wanted
    bool is_source = false;           ///< the whole source of the text that follows, which has no logits
    std::span<const float> features = {};  ///< of a source (source_features.h)
};

/// The last position of `tokens`, or all of them.
std::vector<int32_t> last_row(std::span<const int32_t> tokens);
std::vector<int32_t> every_row(std::span<const int32_t> tokens);

/// Runs one step: LoadedProgram::run_step, or a test's substitute for it.
using StepFunction =
    std::function<void(std::span<const int64_t> symbols, std::span<const std::span<const std::byte>> inputs,
                       std::span<const std::span<std::byte>> outputs)>;

/// Receives the logits [vocabulary] after token `row` of the addition with this number. The span is valid
/// during the call.
using LogitsSink = std::function<void(size_t addition, int32_t row, std::span<const float> logits)>;
/// Receives the hidden state [hidden_width] of the same row, just before its logits.
using HiddenSink = std::function<void(size_t addition, int32_t row, std::span<const float> hidden)>;

/// Sequences over one paged cache (docs/artefact.md): pages of 16 slots go to a sequence as it grows
/// and come back when it is closed. Many sequences share a step, whatever their lengths. Source of the cache:
/// Kwon et al., "Efficient Memory Management for Large Language Model Serving with PagedAttention", 2023.
class Session {
public:
    /// @throws Error if `manifest` is no language model's, or if it does not allow the options.
    Session(runtime::Manifest manifest, const SessionOptions& options, StepFunction step);

    /// The values of symbols for which the states of the program must be allocated.
    static std::map<std::string, int64_t> state_symbols(const runtime::Manifest& manifest,
                                                        const SessionOptions& options);

    /// @throws Error if as many sequences are open as the options allow.
    SequenceId open();
    void close(SequenceId sequence);
    int64_t length(SequenceId sequence) const;
    /// Forgets all but the first `length` tokens. @pre 0 <= length <= this->length(sequence), and for a
    /// sequence that is continued, or of a model with recurrences, length == own_length(sequence, length)
    void shorten(SequenceId sequence, int64_t length);
    /// Opens a sequence with the first tokens of another. They share the pages, which neither writes any
    /// more, as their slots are full. @pre length is a multiple of page_size(), 0 <= length <=
    /// this->length(sequence), open_sequences() < most_open(); length == 0 with recurrences
    SequenceId fork(SequenceId sequence, int64_t length);
    /// The largest length up to `length` to which the sequence can be shortened and then continued: within
    /// shared pages, a whole number of them. A recurrence has the state behind the last token alone, so that
    /// its sequence keeps all tokens or none.
    int64_t own_length(SequenceId sequence, int64_t length) const;
    /// Extends the sequence to `length` without computing: the contents of its pages count as the keys and
    /// values of its tokens, and the state of a recurrence as theirs. @pre this->length(sequence) <= length
    /// <= context()
    void assume(SequenceId sequence, int64_t length);

    /// Appends tokens to sequences, in as few steps as the limits of the code and `chunk` allow. Rows of one
    /// addition come in order; those of several may alternate.
    /// @throws Error, before anything has changed, if a sequence would exceed the context, a token is not of
    /// the vocabulary, or a sequence occurs twice.
    /// `should_stop` is asked before every step. @return true if everything was added; otherwise a sequence
    /// has the length that it has reached. @pre no `hidden` if hidden_width() is 0
    bool add(std::span<const Addition> batch, const LogitsSink& sink,
             const std::function<bool()>& should_stop = {}, const HiddenSink& hidden = {});

    /// True if the model has recurrences: see own_length.
    bool has_recurrences() const { return interface_.has_seats(); }
    int64_t context() const { return context_; }
    /// Most tokens of one sequence in one step.
    int64_t longest_segment() const { return longest_segment_; }
    /// Most tokens of the steps that have code of their own, such as those of decoding. That code may round
    /// otherwise than the code for long steps.
    int64_t longest_small_step() const;
    int64_t vocabulary() const { return interface_.vocabulary; }
    /// The width of a hidden state; 0 if the step does not give them.
    int64_t hidden_width() const { return interface_.hidden; }
    int64_t open_sequences() const;
    int64_t most_open() const { return static_cast<int64_t>(sequences_.size()); }
    int64_t free_pages() const { return allocator_.available(); }
    int64_t pages() const { return pages_; }  ///< of the cache
    /// The number of pages for this many tokens of one sequence.
    int64_t pages_for(int64_t tokens) const {
        return (tokens + interface_.page_size - 1) / interface_.page_size;
    }
    int64_t page_size() const { return interface_.page_size; }
    /// Limits of one step: tokens, rows of logits, and sequences.
    int64_t most_tokens() const { return interface_.limits[StepInterface::kT].high; }
    int64_t most_rows() const { return most_rows_; }
    /// A text is added as a whole, to a sequence without tokens, and has hidden states alone.
    bool is_encoder() const { return interface_.is_encoder; }
    /// A sequence begins with its source, an addition of its own.
    bool has_source() const { return interface_.has_source; }
    int64_t most_sequences() const { return interface_.limits[StepInterface::kB].high; }
    const runtime::Manifest& manifest() const { return manifest_; }

private:
    struct Sequence {
        bool is_open = false;
        int64_t length = 0;
        int64_t split = 0;  ///< tokens of its source
        std::vector<int32_t> pages;
    };
    /// The progress of an addition.
    struct Progress {
        size_t tokens = 0;
        size_t rows = 0;
    };
    /// The part of an addition that is in one step.
    struct Part {
        size_t addition;
        Segment segment;
        std::vector<int32_t> rows;
    };

    Sequence& sequence(SequenceId id) { return sequences_[index_of(id)]; }
    size_t index_of(SequenceId id) const;
    void reserve(Sequence& reserved, int64_t length);
    void check(std::span<const Addition> batch) const;
    std::vector<Part> next_step(std::span<const Addition> batch, const std::vector<Progress>& progress);
    void run(std::span<const Addition> batch, const std::vector<Part>& parts, std::vector<Progress>& progress,
             const LogitsSink& sink, const HiddenSink& hidden);

    runtime::Manifest manifest_;
    StepInterface interface_;
    StepFunction step_;
    int64_t context_;
    int64_t whole_segment_;  ///< of a text that is taken as a whole
    int64_t longest_segment_;
    int64_t most_rows_;
    int64_t pages_;
    PageAllocator allocator_;
    std::vector<Sequence> sequences_;
    std::vector<float> logits_, hidden_;
};

}  // namespace tessera::llm
