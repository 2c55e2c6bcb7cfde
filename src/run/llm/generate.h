#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "run/llm/grammar_constraint.h"
#include "run/llm/sample.h"
#include "run/llm/session.h"
#include "run/llm/tokenizer.h"
#include "tessera/generation.h"

namespace tessera::llm {

/// Continues a sequence after the prompt, which follows the tokens that the sequence already holds. The
/// repetition penalty sees the prompt and the generated tokens.
/// @throws Error if an option is outside its range, or the prompt is empty or does not fit into the context.
Generation generate(Session& session, SequenceId sequence, std::span<const TokenId> prompt,
                    const GenerateOptions& options);

/// Continues a prompt in a sequence of its own. The text also ends at the EOS of the tokenizer, unless
/// `past_end`.
/// @throws Error as above, and if a stop string is empty.
Generation generate(Session& session, const Tokenizer& tokenizer, std::span<const TokenId> prompt,
                    GenerateOptions options);

/// The division of a prompt into steps: segments of this length, of which the last may be shorter. Steps of
/// at most `small` tokens have code of their own.
struct PromptSteps {
    int64_t segment = 1;
    int64_t small = 0;
};
/// The length of the beginning of a computed prompt whose keys and values every longer prompt would compute
/// in the same way.
int64_t lasting_length(int64_t prompt, const PromptSteps& steps);
/// The part of a held prefix that a prompt can use: less than the prompt, and so that the rest is computed by
/// the same code as if nothing were held. @pre alike <= prompt
int64_t reused_length(int64_t alike, int64_t prompt, const PromptSteps& steps);

/// A sequence that stays open between prompts, so that their common beginning is computed once. Only tokens
/// that were computed as a prompt are used again: decoding rounds otherwise, and a text must not depend on
/// earlier ones.
///
///     holds    BOS U1              answer A1
///     prompt   BOS U1 A1 EOT U2    computes A1 EOT U2
///     prompt   BOS U3              drops all but BOS
class KeptSequence {
public:
    explicit KeptSequence(Session& session) : session_(session) {}
    ~KeptSequence() { close(); }
    KeptSequence(const KeptSequence&) = delete;
    KeptSequence& operator=(const KeptSequence&) = delete;

    /// Forgets everything, and lets another sequence be opened.
    void close();
    /// Continues a prompt as `generate` does; `tokenizer` may be null. Forgets everything if it throws.
    Generation generate(const Tokenizer* tokenizer, std::span<const TokenId> prompt, GenerateOptions options);

private:
    Session& session_;
    GrammarCache grammars_;
    std::optional<SequenceId> sequence_;
    std::vector<TokenId> ids_;  // that the sequence holds and that may be used again
};

}  // namespace tessera::llm
