#pragma once

#include <optional>
#include <string>
#include <vector>

#include "run/llm/stop_strings.h"
#include "run/llm/token_decoder.h"
#include "run/llm/tokenizer.h"
#include "run/llm/utf8_stream.h"

namespace tessera::llm {

/// Turns tokens into text as they come: all pieces together are what Tokenizer::decode gives, cut before the
/// first stop string, and each consists of whole characters.
///
///     tokens --decoder--> bytes --front of the text--> --stop strings--> --characters--> text
class TextStream {
public:
    /// `at_start`: no text precedes the tokens, as in Tokenizer::decode; the first one may then lose the
    /// space that it has inside a text.
    TextStream(Tokenizer tokenizer, std::vector<std::string> stop_strings, bool at_start);

    /// An id that the vocabulary does not have is no text: models may have more logits than tokens.
    std::string push(TokenId id);
    /// The text that was held back: the beginning of a stop string, bytes that never became a character.
    std::string finish();
    /// A stop string was found: the text has ended.
    bool found_stop() const { return stop_.found(); }

private:
    std::string decode(TokenId id, bool last);
    std::string push_token(TokenId id, bool last);

    Tokenizer tokenizer_;
    bool holds_last_;              // the text of the last token is known when the next one comes
    std::optional<TokenId> last_;  // held
    bool at_start_;                // no token has been decoded
    std::vector<FrontStripper> front_;
    StopStrings stop_;
    Utf8Stream characters_;
};

}  // namespace tessera::llm
