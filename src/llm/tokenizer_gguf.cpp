#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "import/gguf/gguf_file.h"
#include "llm/byte_level_patterns.h"
#include "llm/tokenizer_document.h"
#include "llm/tokenizer_sources.h"
#include "support/error.h"

namespace tessera::llm {
namespace {

// tokenizer.ggml.token_type, from the enum of the same name in the ggml project.
enum TokenType : int32_t {
    kNormal = 1,
    kUnknown = 2,
    kControl = 3,
    kUserDefined = 4,
    kUnused = 5,
    kByte = 6,
};

// A model may end its text in several ways, but the format has one key for each kind of end, and files often
// fill in one key only. Control tokens with these texts end a text or a turn in every model that has them:
// the list of `generation_config.json` in the HuggingFace form of Llama 3, Qwen 2 and 3, SmolLM 2 and
// Gemma 2.
constexpr std::array<std::string_view, 6> kEndTexts = {"<|endoftext|>", "<|end_of_text|>", "<|eot_id|>",
                                                       "<|eom_id|>",    "<|im_end|>",      "<end_of_turn>"};

/// The keys of one file, all checked.
class Source {
public:
    explicit Source(const import::GgufFile& file) : file_(file) {
        const auto tokens = metadata().get_array<std::string_view>("tokenizer.ggml.tokens");
        if (!tokens || tokens->empty())
            fail("tokenizer.ggml.tokens", "is missing: the file has no tokenizer");
        if (tokens->size() > static_cast<size_t>(Vocabulary::kLargestId))
            fail("tokenizer.ggml.tokens", fmt::format("has {} tokens, at most {} are possible",
                                                      tokens->size(), Vocabulary::kLargestId));
        types_ = metadata().get_array<int32_t>("tokenizer.ggml.token_type").value_or(std::vector<int32_t>());
        if (types_.empty()) types_.assign(tokens->size(), kNormal);
        if (types_.size() != tokens->size())
            fail("tokenizer.ggml.token_type",
                 fmt::format("has {} elements for {} tokens", types_.size(), tokens->size()));
        for (size_t id = 0; id < tokens->size(); ++id)
            vocabulary_.add(static_cast<TokenId>(id), (*tokens)[id]);
    }

    const import::GgufMetadata& metadata() const { return file_.metadata(); }
    const Vocabulary& vocabulary() const { return vocabulary_; }
    const std::vector<int32_t>& types() const { return types_; }

    std::vector<AddedToken> added_tokens() const {
        std::vector<AddedToken> added;
        for (size_t id = 0; id < types_.size(); ++id) {
            const bool special = types_[id] == kControl || types_[id] == kUnknown;
            const std::string_view text = vocabulary_.text(static_cast<TokenId>(id));
            if ((special || types_[id] == kUserDefined) && !text.empty())
                added.push_back(
                    {.id = static_cast<TokenId>(id), .content = std::string(text), .special = special});
        }
        return added;
    }

    /// Special ids, of which a list may hold several. Those that the vocabulary does not have are none, as -1
    /// and 2^32 - 1 are; the import warns of them.
    std::vector<TokenId> ids(std::string_view key) const {
        std::vector<TokenId> known;
        for (const int64_t id : metadata().get_integers(key))
            if (id >= 0 && std::cmp_less(id, vocabulary_.size())) known.push_back(static_cast<TokenId>(id));
        return known;
    }
    std::optional<TokenId> id(std::string_view key) const {
        const std::vector<TokenId> known = ids(key);
        return known.empty() ? std::nullopt : std::optional(known.front());
    }

    /// The parts that both kinds have: added tokens, special ids, tokens around a text.
    TokenizerParts common(bool adds_bos_by_default) const {
        TokenizerParts parts;
        parts.vocabulary = vocabulary_;
        parts.added = added_tokens();
        parts.bos = id("tokenizer.ggml.bos_token_id");
        for (const char* key :
             {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"})
            for (const TokenId end : ids(key)) parts.eos.push_back(end);
        const auto eos = id("tokenizer.ggml.eos_token_id");
        for (const AddedToken& token : parts.added)
            if (token.special &&
                std::find(kEndTexts.begin(), kEndTexts.end(), token.content) != kEndTexts.end())
                parts.eos.push_back(token.id);
        if (metadata().get_bool("tokenizer.ggml.add_bos_token").value_or(adds_bos_by_default) && parts.bos)
            parts.prefix = {*parts.bos};
        if (metadata().get_bool("tokenizer.ggml.add_eos_token").value_or(false) && eos) parts.suffix = {*eos};
        return parts;
    }

    const std::string& path() const { return file_.path(); }

    [[noreturn]] void fail(std::string_view key, std::string problem, std::string advice = {}) const {
        throw Error(file_.path(), std::string(key), std::move(problem), std::move(advice));
    }

private:
    const import::GgufFile& file_;
    Vocabulary vocabulary_;
    std::vector<int32_t> types_;
};

MergeTable read_merges(const Source& source) {
    const auto texts = source.metadata().get_array<std::string_view>("tokenizer.ggml.merges");
    if (!texts) source.fail("tokenizer.ggml.merges", "is missing, byte-level BPE needs it");
    std::vector<MergeText> merges;
    merges.reserve(texts->size());
    for (const std::string_view text : *texts) {
        auto merge = split_merge(text);
        if (!merge)
            source.fail("tokenizer.ggml.merges",
                        fmt::format("element {} is \"{}\", expected two texts with a space between",
                                    merges.size(), text));
        merges.push_back(std::move(*merge));
    }
    // Writers leave merges in whose tokens they have removed: such a merge can never take place.
    return make_merges(merges, source.vocabulary(), "", UnknownMerge::kIgnore, source.path());
}

TokenizerParts read_byte_level(const Source& source) {
    const std::string_view name = source.metadata().get_string("tokenizer.ggml.pre").value_or("default");
    const auto style = byte_pre_tokenizer(name);
    if (!style)
        source.fail("tokenizer.ggml.pre", fmt::format("is \"{}\", which is not supported", name),
                    fmt::format("supported are {}", fmt::join(byte_pre_tokenizer_names(), ", ")));
    TokenizerParts parts = source.common(style->adds_bos);
    if (style->composes) parts.normalizer.emplace_back(UnicodeForm::kNfc);
    const bool space = source.metadata().get_bool("tokenizer.ggml.add_space_prefix").value_or(false);
    parts.pre_tokenizer = byte_level_steps(style->patterns, space);
    BpeOptions options;
    options.ignore_merges = style->ignores_merges;
    parts.model = Bpe(read_merges(source), std::move(options));
    parts.decoder.token_steps.emplace_back(DecodeByteAlphabet{});
    return parts;
}

ScoreRanks read_scores(const Source& source) {
    const auto scores = source.metadata().get_array<float>("tokenizer.ggml.scores");
    if (!scores) source.fail("tokenizer.ggml.scores", "is missing, SentencePiece BPE needs it");
    if (scores->size() != source.vocabulary().size())
        source.fail("tokenizer.ggml.scores",
                    fmt::format("has {} elements for {} tokens", scores->size(), source.vocabulary().size()));
    for (size_t id = 0; id < scores->size(); ++id)
        if (!std::isfinite((*scores)[id]))
            source.fail("tokenizer.ggml.scores", fmt::format("element {} is {}", id, (*scores)[id]));
    std::vector<bool> may_be_made(scores->size());
    for (size_t id = 0; id < scores->size(); ++id) {
        const int32_t type = source.types()[id];
        // Control, unknown and byte tokens are never spelled by a text.
        may_be_made[id] = type == kNormal || type == kUserDefined || type == kUnused;
    }
    return rank_scores(*scores, may_be_made);
}

TokenizerParts read_scored(const Source& source) {
    TokenizerParts parts = source.common(true);
    const bool space = source.metadata().get_bool("tokenizer.ggml.add_space_prefix").value_or(true);
    if (space) parts.normalizer.emplace_back(Prepend{std::string(kSpaceMark)});
    parts.normalizer.emplace_back(ReplaceText{" ", std::string(kSpaceMark)});
    BpeOptions options;
    options.unknown = source.id("tokenizer.ggml.unknown_token_id");
    options.byte_tokens = find_byte_tokens(source.vocabulary());
    parts.model = Bpe(read_scores(source), std::move(options));
    parts.decoder.token_steps = {ReplaceText{std::string(kSpaceMark), " "}, DecodeByteToken{}};
    if (space) parts.decoder.front = {StripFront{" ", 1}};
    return parts;
}

}  // namespace

TokenizerParts read_gguf_tokenizer(const import::GgufFile& file) {
    const Source source(file);
    const auto model = source.metadata().get_string("tokenizer.ggml.model");
    if (model == "gpt2") return read_byte_level(source);
    if (model == "llama") return read_scored(source);
    source.fail("tokenizer.ggml.model", fmt::format("is \"{}\", which is not supported", model.value_or("")),
                "supported are gpt2 (byte-level BPE) and llama (SentencePiece BPE)");
}

}  // namespace tessera::llm
