#include <utility>

#include <fmt/format.h>

#include "run/llm/gguf_vocabulary.h"
#include "run/llm/sentence_piece_parts.h"

// The converters of ggml copy a `tokenizer.model` key by key, the types of its pieces included.

namespace tessera::llm {
namespace {

constexpr std::string_view kCharacterMapKey = "tokenizer.ggml.precompiled_charsmap";

/// The bytes of the map, which come as an array of numbers.
std::string character_map_bytes(const GgufVocabulary& source) {
    std::string bytes;
    for (const int32_t byte :
         source.metadata().get_array<int32_t>(kCharacterMapKey).value_or(std::vector<int32_t>())) {
        // Writers take the bytes for signed or for unsigned ones.
        if (byte < -128 || byte > 255)
            source.fail(kCharacterMapKey,
                        fmt::format("element {} is {}, expected a byte", bytes.size(), byte));
        bytes.push_back(static_cast<char>(byte));
    }
    return bytes;
}

SentencePieceModel::Type piece_type(const GgufVocabulary& source, size_t id) {
    const auto type = static_cast<int32_t>(source.types()[id]);
    if (type < static_cast<int32_t>(GgufTokenType::kNormal) ||
        type > static_cast<int32_t>(GgufTokenType::kByte))
        source.fail("tokenizer.ggml.token_type", fmt::format("element {} is {}, expected 1 to 6", id, type));
    return static_cast<SentencePieceModel::Type>(type);
}

SentencePieceModel piece_model(const GgufVocabulary& source) {
    SentencePieceModel model;
    model.vocabulary = source.tokens();
    model.scores = source.scores();
    for (size_t id = 0; id < source.types().size(); ++id) {
        model.types.push_back(piece_type(source, id));
        if (model.types.back() == SentencePieceModel::Type::kByte) model.byte_fallback = true;
    }
    // A file without types has the piece for unknown characters by its id only.
    const auto unknown = source.id("tokenizer.ggml.unknown_token_id");
    if (unknown && !unknown_piece(model))
        model.types[static_cast<size_t>(*unknown)] = SentencePieceModel::Type::kUnknown;
    model.character_map = character_map_bytes(source);
    model.add_dummy_prefix = source.is_set("tokenizer.ggml.add_space_prefix", model.add_dummy_prefix);
    model.remove_extra_whitespaces =
        source.is_set("tokenizer.ggml.remove_extra_whitespaces", model.remove_extra_whitespaces);
    return model;
}

}  // namespace

TokenizerParts read_gguf_unigram(const GgufVocabulary& source) {
    const SentencePieceModel model = piece_model(source);
    TokenizerParts parts = source.common_parts({.adds_bos = false, .adds_eos = true});
    // User-defined pieces are found by the normaliser and the model, between the pieces that were learned.
    for (AddedToken& token : parts.added) token.in_model = !token.special;
    parts.normalizer = sentence_piece_normalizer(model, {source.path(), std::string(kCharacterMapKey)});
    parts.decoder = sentence_piece_decoder(model);
    parts.model = sentence_piece_unigram(model);
    return parts;
}

}  // namespace tessera::llm
