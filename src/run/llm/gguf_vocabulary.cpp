#include "run/llm/gguf_vocabulary.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "run/llm/turn_end_texts.h"
#include "support/error.h"

namespace tessera::llm {

GgufVocabulary::GgufVocabulary(const import::GgufFile& file) : file_(file) {
    const auto tokens = metadata().get_array<std::string_view>("tokenizer.ggml.tokens");
    if (!tokens || tokens->empty()) fail("tokenizer.ggml.tokens", "is missing: the file has no tokenizer");
    if (tokens->size() > static_cast<size_t>(Vocabulary::kLargestId))
        fail("tokenizer.ggml.tokens",
             fmt::format("has {} tokens, at most {} are possible", tokens->size(), Vocabulary::kLargestId));
    const auto types = metadata().get_array<int32_t>("tokenizer.ggml.token_type");
    if (!types || types->empty())
        types_.assign(tokens->size(), GgufTokenType::kNormal);
    else
        for (const int32_t type : *types) types_.push_back(static_cast<GgufTokenType>(type));
    if (types_.size() != tokens->size())
        fail("tokenizer.ggml.token_type",
             fmt::format("has {} elements for {} tokens", types_.size(), tokens->size()));
    for (size_t id = 0; id < tokens->size(); ++id) tokens_.add(static_cast<TokenId>(id), (*tokens)[id]);
}

std::vector<float> GgufVocabulary::scores() const {
    constexpr std::string_view kKey = "tokenizer.ggml.scores";
    auto scores = metadata().get_array<float>(kKey);
    if (!scores) fail(kKey, "is missing, SentencePiece needs it");
    if (scores->size() != tokens_.size())
        fail(kKey, fmt::format("has {} elements for {} tokens", scores->size(), tokens_.size()));
    for (size_t id = 0; id < scores->size(); ++id)
        if (!std::isfinite((*scores)[id])) fail(kKey, fmt::format("element {} is {}", id, (*scores)[id]));
    return *std::move(scores);
}

std::vector<AddedToken> GgufVocabulary::added_tokens() const {
    std::vector<AddedToken> added;
    for (size_t i = 0; i < types_.size(); ++i) {
        const auto id = static_cast<TokenId>(i);
        const bool special = types_[i] == GgufTokenType::kControl || types_[i] == GgufTokenType::kUnknown;
        const std::string_view text = tokens_.text(id);
        if ((special || types_[i] == GgufTokenType::kUserDefined) && !text.empty())
            added.push_back({.id = id, .content = std::string(text), .special = special});
    }
    return added;
}

std::vector<TokenId> GgufVocabulary::ids(std::string_view key) const {
    std::vector<TokenId> known;
    for (const int64_t id : metadata().get_integers(key))
        if (id >= 0 && std::cmp_less(id, tokens_.size())) known.push_back(static_cast<TokenId>(id));
    return known;
}

std::optional<TokenId> GgufVocabulary::id(std::string_view key) const {
    const std::vector<TokenId> known = ids(key);
    return known.empty() ? std::nullopt : std::optional(known.front());
}

TokenizerParts GgufVocabulary::common_parts(Defaults defaults) const {
    TokenizerParts parts;
    parts.vocabulary = tokens_;
    parts.added = added_tokens();
    parts.bos = id("tokenizer.ggml.bos_token_id");
    for (const char* key :
         {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"})
        for (const TokenId end : ids(key)) parts.eos.push_back(end);
    const auto eos = id("tokenizer.ggml.eos_token_id");
    for (const AddedToken& token : parts.added)
        if (token.special && ends_a_turn(token.content)) parts.eos.push_back(token.id);
    if (is_set("tokenizer.ggml.add_bos_token", defaults.adds_bos) && parts.bos) parts.prefix = {*parts.bos};
    if (is_set("tokenizer.ggml.add_eos_token", defaults.adds_eos) && eos) parts.suffix = {*eos};
    return parts;
}

void GgufVocabulary::fail(std::string_view key, std::string problem, std::string advice) const {
    throw Error(file_.path(), std::string(key), std::move(problem), std::move(advice));
}

}  // namespace tessera::llm
