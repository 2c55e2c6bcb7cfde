#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/ranges.h>

#include "run/llm/read_added_token.h"
#include "run/llm/tokenizer_components.h"
#include "run/llm/tokenizer_config.h"
#include "run/llm/tokenizer_document.h"
#include "run/llm/tokenizer_sources.h"
#include "support/error.h"
#include "support/json.h"

namespace tessera::llm {
namespace {

/// The token of unknown characters, or words.
TokenId read_unknown(const JsonCursor& model, const Vocabulary& vocabulary) {
    const std::string text = model.string_or("unk_token", "[UNK]");
    const auto id = vocabulary.find(text);
    if (!id)
        throw Error(model.file(), model.place_of("unk_token"),
                    fmt::format("is \"{}\", which the vocabulary does not have", text));
    return *id;
}

Bpe read_bpe(const JsonCursor& model, const TokenizerDocument& document, Unsupported& unsupported) {
    const Vocabulary& vocabulary = document.vocabulary;
    BpeOptions options;
    if (const auto dropout = model.find("dropout"); dropout && !dropout->is_equal(0))
        unsupported.push_back("model option dropout");
    if (model.find("unk_token")) options.unknown = read_unknown(model, vocabulary);
    options.fuse_unknown = model.boolean_or("fuse_unk", false);
    options.ignore_merges = model.boolean_or("ignore_merges", false);
    options.continuing_prefix = model.string_or("continuing_subword_prefix", "");
    options.end_suffix = model.string_or("end_of_word_suffix", "");
    if (model.boolean_or("byte_fallback", false)) options.byte_tokens = find_byte_tokens(vocabulary);
    MergeTable table = make_merges(document.merges, vocabulary, options.continuing_prefix,
                                   UnknownMerge::kRefuse, model.file());
    return Bpe(std::move(table), std::move(options));
}

Unigram read_unigram(const JsonCursor& model, const TokenizerDocument& document, Unsupported& unsupported) {
    UnigramOptions options;
    // Sampling: a text would become other tokens each time.
    for (const char* name : {"alpha", "nbest_size"})
        if (const auto option = model.find(name); option && !option->is_equal(0))
            unsupported.push_back(fmt::format("model option {}", name));
    if (const auto unknown = model.find("unk_id"))
        options.unknown =
            static_cast<TokenId>(unknown->integer(0, static_cast<int64_t>(document.vocabulary.size()) - 1));
    constexpr double kPenalty = 10;
    options.unknown_score = *std::min_element(document.scores.begin(), document.scores.end()) - kPenalty;
    if (model.boolean_or("byte_fallback", false)) options.byte_tokens = find_byte_tokens(document.vocabulary);
    return Unigram(document.vocabulary, document.scores, options);
}

WordPiece read_word_piece(const JsonCursor& model, const Vocabulary& vocabulary) {
    WordPieceOptions options;
    options.unknown = read_unknown(model, vocabulary);
    options.continuing_prefix = model.string_or("continuing_subword_prefix", options.continuing_prefix);
    if (const auto longest = model.find("max_input_chars_per_word"))
        options.longest_word = static_cast<size_t>(longest->integer(0, INT32_MAX));
    return WordPiece(vocabulary, std::move(options));
}

/// Without a token for unknown words only the words of the vocabulary can be written.
WordLevel read_word_level(const JsonCursor& model, const Vocabulary& vocabulary) {
    return WordLevel(vocabulary.find(model.string_or("unk_token", "<unk>")));
}

/// Files of the first versions do not name the type of the model.
std::string type_of(const JsonCursor& model, const TokenizerDocument& document) {
    std::string otherwise = "of no type";
    if (!document.scores.empty())
        otherwise = "Unigram";
    else if (model.find("max_input_chars_per_word"))
        otherwise = "WordPiece";
    else if (!document.merges.empty())
        otherwise = "BPE";
    return model.string_or("type", otherwise);
}

TokenModel read_model(const JsonCursor& model, const TokenizerDocument& document, Unsupported& unsupported) {
    const std::string type = type_of(model, document);
    if (type != "BPE" && type != "Unigram" && type != "WordPiece" && type != "WordLevel")
        throw Error(model.file(), "model", fmt::format("is {}, which is not supported", type),
                    "supported are BPE, byte-level or with byte fallback, Unigram, WordPiece and WordLevel");
    if (document.vocabulary.size() == 0) model.fail("has no vocabulary");
    if (document.scores.empty() == (type == "Unigram"))
        throw Error(
            model.file(), "model.vocab",
            fmt::format("is {} of a {} model, expected {}", document.scores.empty() ? "an object" : "a list",
                        type, type == "Unigram" ? "a list" : "an object"));
    if (type == "Unigram") return read_unigram(model, document, unsupported);
    if (type == "WordPiece") return read_word_piece(model, document.vocabulary);
    if (type == "WordLevel") return read_word_level(model, document.vocabulary);
    return read_bpe(model, document, unsupported);
}

/// A post-processor may name ids that nothing has.
void check_ids(const std::vector<TokenId>& ids, const TokenizerParts& parts, const std::string& file) {
    for (const TokenId id : ids)
        if (!parts.vocabulary.contains(id) && std::none_of(parts.added.begin(), parts.added.end(),
                                                           [&](const auto& added) { return added.id == id; }))
            throw Error(file, "post_processor",
                        fmt::format("adds the token {}, which the vocabulary does not have", id));
}

/// Tokens of the files beside: their flags count before those of the document, its ids before theirs.
void merge_added_tokens(const TokenizerConfig& config, TokenizerParts& parts) {
    std::unordered_map<std::string, size_t> known;
    std::unordered_set<TokenId> taken;
    for (size_t i = 0; i < parts.added.size(); ++i) {
        known.emplace(parts.added[i].content, i);
        taken.insert(parts.added[i].id);
    }
    for (const AddedToken& token : config.added_tokens) {
        if (const auto found = known.find(token.content); found != known.end()) {
            AddedToken& own = parts.added[found->second];
            const TokenId id = own.id;
            if (config.has_decoder) own = token;
            own.id = id;
            continue;
        }
        const TokenId id = parts.vocabulary.find(token.content).value_or(token.id);
        if ((parts.vocabulary.contains(id) && parts.vocabulary.text(id) != token.content) ||
            !taken.insert(id).second)
            continue;
        known.emplace(token.content, parts.added.size());
        parts.added.push_back(token);
        parts.added.back().id = id;
    }
}

}  // namespace

TokenizerParts read_tokenizer_json(FileSource& files, const std::string& name) {
    const std::string where = files.where(name);
    TokenizerDocument document = read_tokenizer_document(files.read(name), where);
    const JsonCursor& file = document.rest;
    const JsonCursor model = file.at("model");
    Unsupported unsupported;
    TokenizerParts parts;
    parts.normalizer = read_normalizer(file.find("normalizer"), unsupported);
    parts.pre_tokenizer = read_pre_tokenizer(file.find("pre_tokenizer"), unsupported);
    parts.decoder = read_decoder(file.find("decoder"), unsupported);
    Affixes affixes = read_post_processor(file.find("post_processor"), unsupported);
    parts.model = read_model(model, document, unsupported);
    if (!unsupported.empty())
        throw Error(where, "", fmt::format("uses what is not supported: {}", fmt::join(unsupported, ", ")));

    parts.vocabulary = std::move(document.vocabulary);
    if (const auto added = file.find("added_tokens"))
        for (const JsonCursor& token : added->items()) {
            const int64_t id = token.at("id").integer(0, Vocabulary::kLargestId);
            parts.added.push_back(read_added_token(token, static_cast<TokenId>(id)));
        }
    check_ids(affixes.prefix, parts, where);
    check_ids(affixes.suffix, parts, where);
    parts.prefix = std::move(affixes.prefix);
    parts.suffix = std::move(affixes.suffix);
    const TokenizerConfig config = read_tokenizer_config(files);
    merge_added_tokens(config, parts);
    add_special_tokens(config, parts);
    set_special_ids(config, parts);
    return parts;
}

}  // namespace tessera::llm
