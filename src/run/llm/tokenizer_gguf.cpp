#include <utility>

#include <fmt/format.h>

#include "import/gguf/gguf_file.h"
#include "run/llm/byte_level_patterns.h"
#include "run/llm/gguf_vocabulary.h"
#include "run/llm/tokenizer_document.h"
#include "run/llm/tokenizer_sources.h"
#include "support/error.h"

namespace tessera::llm {
namespace {

MergeTable read_merges(const GgufVocabulary& source) {
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
    return make_merges(merges, source.tokens(), "", UnknownMerge::kIgnore, source.path());
}

std::string_view pre_tokenizer_name(const GgufVocabulary& source) {
    return source.metadata().get_string("tokenizer.ggml.pre").value_or("default");
}

/// BPE over characters with marks in the place of spaces, and bytes for what the vocabulary lacks:
/// SentencePiece's form, with the merges of the others.
bool has_marked_spaces(const GgufVocabulary& source, std::string_view model) {
    const std::string_view name = pre_tokenizer_name(source);
    return model == "gemma4" || (model == "gpt2" && (name == "gemma4" || name == "sarvam-moe"));
}

TokenizerParts read_byte_level(const GgufVocabulary& source) {
    const std::string_view name = pre_tokenizer_name(source);
    const auto style = byte_pre_tokenizer(name);
    if (!style)
        source.fail("tokenizer.ggml.pre", fmt::format("is \"{}\", which is not supported", name),
                    fmt::format("supported are {}", fmt::join(byte_pre_tokenizer_names(), ", ")));
    TokenizerParts parts = source.common_parts({.adds_bos = style->adds_bos});
    if (style->composes) parts.normalizer.emplace_back(UnicodeForm::kNfc);
    const bool space = source.is_set("tokenizer.ggml.add_space_prefix", false);
    parts.pre_tokenizer = byte_level_steps(style->patterns, space);
    BpeOptions options;
    options.ignore_merges = style->ignores_merges;
    parts.model = Bpe(read_merges(source), std::move(options));
    parts.decoder.token_steps.emplace_back(DecodeByteAlphabet{.of_added = false});
    return parts;
}

/// Control, unknown and byte tokens are never spelled by a text.
ScoreRanks rank_tokens(const GgufVocabulary& source) {
    std::vector<bool> may_be_made;
    for (const GgufTokenType type : source.types())
        may_be_made.push_back(type == GgufTokenType::kNormal || type == GgufTokenType::kUserDefined ||
                              type == GgufTokenType::kUnused);
    return rank_scores(source.scores(), may_be_made);
}

/// `ranks`: the order of merges, by scores or as a list.
template <class Ranks>
TokenizerParts read_marked(const GgufVocabulary& source, Ranks ranks, bool adds_bos, bool space_in_front) {
    TokenizerParts parts = source.common_parts({.adds_bos = adds_bos});
    const bool space = source.is_set("tokenizer.ggml.add_space_prefix", space_in_front);
    if (space) parts.normalizer.emplace_back(Prepend{std::string(kSpaceMark)});
    parts.normalizer.emplace_back(ReplaceText{" ", std::string(kSpaceMark)});
    BpeOptions options;
    options.unknown = source.id("tokenizer.ggml.unknown_token_id");
    options.byte_tokens = find_byte_tokens(source.tokens());
    parts.model = Bpe(std::move(ranks), std::move(options));
    parts.decoder.token_steps = {ReplaceText{std::string(kSpaceMark), " "}, DecodeByteToken{}};
    if (space) parts.decoder.front = {StripFront{" ", 1}};
    return parts;
}

}  // namespace

TokenizerParts read_gguf_tokenizer(const import::GgufFile& file) {
    const GgufVocabulary source(file);
    const auto model = source.metadata().get_string("tokenizer.ggml.model");
    if (model && has_marked_spaces(source, *model))
        return read_marked(source, read_merges(source), false, false);
    if (model == "gpt2") return read_byte_level(source);
    if (model == "llama") return read_marked(source, rank_tokens(source), true, true);
    if (model == "t5") return read_gguf_unigram(source);
    if (model == "bert") return read_gguf_word_piece(source);
    source.fail("tokenizer.ggml.model", fmt::format("is \"{}\", which is not supported", model.value_or("")),
                "supported are gpt2 (byte-level BPE), llama and gemma4 (SentencePiece BPE), t5 (Unigram) and "
                "bert (WordPiece)");
}

}  // namespace tessera::llm
