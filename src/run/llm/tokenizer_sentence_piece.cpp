#include <algorithm>
#include <utility>

#include "run/llm/sentence_piece_model.h"
#include "run/llm/sentence_piece_parts.h"
#include "run/llm/tokenizer_config.h"
#include "run/llm/tokenizer_sources.h"
#include "support/error.h"

// A `tokenizer.model` says how a text becomes pieces. The tokens that the model expects around a text, and
// those that were added later, stand in the JSON files beside it; where there are none, a text begins with
// BOS, as for Llama.

namespace tessera::llm {
namespace {

using Model = SentencePieceModel;
using Type = SentencePieceModel::Type;

constexpr std::string_view kInsteadAdvice = "a tokenizer.json beside it is used instead";

void refuse_unsupported(const Model& model, const std::string& where) {
    const auto refuse = [&](const char* field, const std::string& problem) {
        throw Error(where, field, problem + ", which is not supported", std::string(kInsteadAdvice));
    };
    if (model.algorithm != Model::Algorithm::kBpe && model.algorithm != Model::Algorithm::kUnigram) {
        constexpr const char* kNames[] = {"UNIGRAM", "BPE", "WORD", "CHAR"};
        refuse("trainer_spec.model_type",
               fmt::format("is {}", kNames[static_cast<int32_t>(model.algorithm) - 1]));
    }
    if (model.treat_whitespace_as_suffix) refuse("trainer_spec.treat_whitespace_as_suffix", "is set");
    if (model.denormalizes) refuse("denormalizer_spec.precompiled_charsmap", "maps characters");
    // BPE takes such pieces apart again by the merges that made them.
    const auto unused = std::find(model.types.begin(), model.types.end(), Type::kUnused);
    if (unused != model.types.end() && model.algorithm == Model::Algorithm::kBpe)
        refuse("pieces", fmt::format("[{}] is of type UNUSED", unused - model.types.begin()));
}

Bpe bpe_of(const Model& model) {
    std::vector<bool> may_be_made(model.types.size());
    for (size_t id = 0; id < model.types.size(); ++id) may_be_made[id] = model.types[id] == Type::kNormal;
    BpeOptions options;
    options.unknown = unknown_piece(model);
    options.fixed = user_defined_pieces(model);
    options.fuse_unknown = true;
    if (model.byte_fallback) options.byte_tokens = find_byte_tokens(model.vocabulary);
    return Bpe(rank_scores(model.scores, may_be_made), std::move(options));
}

TokenModel model_of(const Model& model) {
    if (model.algorithm == Model::Algorithm::kUnigram) return sentence_piece_unigram(model);
    return bpe_of(model);
}

/// Control pieces are never spelled by a text; tokens of the files beside replace them, or come to them.
/// @throws Error where a file beside gives a piece another id
std::vector<AddedToken> added_tokens_of(const Model& model, const TokenizerConfig& config,
                                        const std::string& where) {
    std::vector<AddedToken> added = config.added_tokens;
    std::vector<bool> is_there(model.types.size());
    for (AddedToken& token : added) {
        const auto piece = model.vocabulary.find(token.content);
        if (piece && *piece != token.id)
            throw Error(where, fmt::format("pieces[{}]", *piece),
                        fmt::format("is \"{}\", which the files beside it say is the token {}", token.content,
                                    token.id),
                        "give both the same id: in added_tokens.json, or in added_tokens_decoder of "
                        "tokenizer_config.json");
        // This form of a tokenizer looks for them before anything has happened to the text.
        token.normalized = false;
        if (static_cast<size_t>(token.id) < is_there.size()) is_there[static_cast<size_t>(token.id)] = true;
    }
    for (size_t id = 0; id < model.types.size(); ++id)
        if ((model.types[id] == Type::kControl || model.types[id] == Type::kUnknown) && !is_there[id])
            added.push_back({.id = static_cast<TokenId>(id),
                             .content = std::string(model.vocabulary.text(static_cast<TokenId>(id))),
                             .special = true});
    for (AddedToken& token : user_defined_tokens(model))
        if (!is_there[static_cast<size_t>(token.id)]) added.push_back(std::move(token));
    return added;
}

std::optional<TokenId> control_piece(const Model& model, const std::string& text) {
    const auto id = model.vocabulary.find(text);
    if (!id || model.types[static_cast<size_t>(*id)] != Type::kControl) return std::nullopt;
    return id;
}

}  // namespace

TokenizerParts read_sentence_piece(FileSource& files, const std::string& name) {
    const std::string where = files.where(name);
    Model model = read_sentence_piece_model(files.read(name), where);
    refuse_unsupported(model, where);
    const TokenizerConfig config = read_tokenizer_config(files);
    if (config.conflict) throw Error(*config.conflict);
    model.add_dummy_prefix = config.add_prefix_space.value_or(model.add_dummy_prefix);

    TokenizerParts parts;
    parts.added = added_tokens_of(model, config, where);
    parts.normalizer = sentence_piece_normalizer(model, {where, "normalizer_spec.precompiled_charsmap"},
                                                 config.legacy.value_or(true));
    parts.decoder = sentence_piece_decoder(model);
    parts.model = model_of(model);
    const auto bos = control_piece(model, model.bos_piece);
    const auto eos = control_piece(model, model.eos_piece);
    parts.vocabulary = std::move(model.vocabulary);
    add_special_tokens(config, parts);
    set_special_ids(config, parts);
    if (!parts.bos) parts.bos = bos;
    if (parts.eos.empty() && eos) parts.eos = {*eos};
    if (config.add_bos_token.value_or(true) && parts.bos) parts.prefix = {*parts.bos};
    if (config.add_eos_token.value_or(false) && !parts.eos.empty()) parts.suffix = {parts.eos.front()};
    return parts;
}

}  // namespace tessera::llm
