#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/gguf/gguf_file.h"
#include "run/llm/tokenizer_parts.h"

namespace tessera::llm {

/// `tokenizer.ggml.token_type`, from the enum of the same name in the ggml project.
enum class GgufTokenType : int32_t {
    kNormal = 1,
    kUnknown = 2,
    kControl = 3,
    kUserDefined = 4,
    kUnused = 5,
    kByte = 6,
};

/// The tokens of a GGUF file and the keys that tokenizers of every kind have, all checked.
class GgufVocabulary {
public:
    /// @throws Error on a file without tokens, or with types that do not fit them
    explicit GgufVocabulary(const import::GgufFile& file);

    const import::GgufMetadata& metadata() const { return file_.metadata(); }
    const std::string& path() const { return file_.path(); }
    const Vocabulary& tokens() const { return tokens_; }
    /// By id.
    const std::vector<GgufTokenType>& types() const { return types_; }
    /// `tokenizer.ggml.scores` by id, all finite. @throws Error if they are missing or do not fit
    std::vector<float> scores() const;

    /// Special ids, of which a list may hold several. Those that the vocabulary does not have are none, as -1
    /// and 2^32 - 1 are; the import warns of them.
    std::vector<TokenId> ids(std::string_view key) const;
    std::optional<TokenId> id(std::string_view key) const;

    /// A boolean of the file, or what counts without it.
    bool is_set(std::string_view key, bool otherwise) const {
        return metadata().get_bool(key).value_or(otherwise);
    }

    /// Tokens around a text, where the file does not say.
    struct Defaults {
        bool adds_bos = false;
        bool adds_eos = false;
    };
    /// The parts that all kinds have: added tokens, special ids, tokens around a text.
    TokenizerParts common_parts(Defaults defaults) const;

    [[noreturn]] void fail(std::string_view key, std::string problem, std::string advice = {}) const;

private:
    std::vector<AddedToken> added_tokens() const;

    const import::GgufFile& file_;
    Vocabulary tokens_;
    std::vector<GgufTokenType> types_;
};

/// `tokenizer.ggml.model` "t5": Unigram of SentencePiece.
TokenizerParts read_gguf_unigram(const GgufVocabulary& source);

/// `tokenizer.ggml.model` "bert": WordPiece behind BERT's normaliser.
TokenizerParts read_gguf_word_piece(const GgufVocabulary& source);

}  // namespace tessera::llm
