#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "run/llm/bert_steps.h"
#include "run/llm/gguf_vocabulary.h"
#include "run/llm/tokenizer_sources.h"

// The converters of ggml mark the beginning of a word, where BERT marks what continues it:
//
//     BERT  un  ##aff  ##able        GGUF  \u2581un  aff  able
//
// The texts are turned back, so that a token has the spelling by which its model knows it.

namespace tessera::llm {
namespace {

constexpr std::string_view kContinues = "##";

/// Converters left texts in brackets alone before they wrote types.
bool is_in_brackets(std::string_view text) {
    return text.size() > 2 && text.front() == '[' && text.back() == ']';
}

std::string bert_text(std::string_view text, GgufTokenType type) {
    if (type != GgufTokenType::kNormal || text.empty() || is_in_brackets(text)) return std::string(text);
    // No word is empty: a mark alone is a character that continues one.
    if (text.starts_with(kSpaceMark) && text.size() > kSpaceMark.size())
        return std::string(text.substr(kSpaceMark.size()));
    return std::string(kContinues).append(text);
}

Vocabulary bert_vocabulary(const GgufVocabulary& source) {
    Vocabulary vocabulary;
    for (size_t i = 0; i < source.types().size(); ++i) {
        const auto id = static_cast<TokenId>(i);
        vocabulary.add(id, bert_text(source.tokens().text(id), source.types()[i]));
    }
    return vocabulary;
}

/// Models that were trained on lower case have no token with a capital.
bool has_capitals(const GgufVocabulary& source) {
    for (size_t i = 0; i < source.types().size(); ++i) {
        const std::string_view text = source.tokens().text(static_cast<TokenId>(i));
        const bool is_word = source.types()[i] == GgufTokenType::kNormal && !is_in_brackets(text);
        if (is_word && std::any_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'Z'; }))
            return true;
    }
    return false;
}

BertNormalizer bert_normalizer_of(const GgufVocabulary& source) {
    BertNormalizer bert;
    bert.lowercase = source.is_set("tokenizer.ggml.normalizer.lowercase", !has_capitals(source));
    bert.strip_accents = source.is_set("tokenizer.ggml.normalizer.strip_accents", bert.lowercase);
    return bert;
}

/// The first key that names a token, or else the token with the text that all such models give it.
std::optional<TokenId> special_id(const GgufVocabulary& source, std::initializer_list<const char*> keys,
                                  std::string_view text) {
    for (const char* key : keys)
        if (const auto id = source.id(key)) return id;
    return source.tokens().find(text);
}

}  // namespace

TokenizerParts read_gguf_word_piece(const GgufVocabulary& source) {
    TokenizerParts parts = source.common_parts({});
    // The key of the separator is spelled so in the format.
    const auto first =
        special_id(source, {"tokenizer.ggml.cls_token_id", "tokenizer.ggml.bos_token_id"}, "[CLS]");
    const auto last =
        special_id(source, {"tokenizer.ggml.seperator_token_id", "tokenizer.ggml.eos_token_id"}, "[SEP]");
    const auto unknown = special_id(source, {"tokenizer.ggml.unknown_token_id"}, "[UNK]");
    if (!unknown)
        source.fail("tokenizer.ggml.unknown_token_id",
                    "is missing, and the vocabulary has no [UNK]: WordPiece needs a token for unknown words");
    parts.bos = first;
    parts.prefix.clear();
    parts.suffix.clear();
    if (first && source.is_set("tokenizer.ggml.add_bos_token", true)) parts.prefix = {*first};
    const bool ends = source.is_set("tokenizer.ggml.add_eos_token", true);
    if (last && source.is_set("tokenizer.ggml.add_sep_token", ends)) parts.suffix = {*last};

    parts.vocabulary = bert_vocabulary(source);
    parts.normalizer = bert_normalizer_of(source).steps();
    parts.pre_tokenizer = bert_pre_tokenizer();
    WordPieceOptions options;
    options.unknown = *unknown;
    options.continuing_prefix = kContinues;
    parts.model = WordPiece(parts.vocabulary, std::move(options));
    parts.decoder.token_steps.emplace_back(DecodeWordPiece{std::string(kContinues), true});
    return parts;
}

}  // namespace tessera::llm
