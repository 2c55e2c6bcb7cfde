#include <algorithm>
#include <array>
#include <utility>

#include "run/llm/byte_level_patterns.h"
#include "run/llm/tokenizer_config.h"
#include "run/llm/tokenizer_document.h"
#include "run/llm/tokenizer_sources.h"
#include "support/error.h"

namespace tessera::llm {
namespace {

/// How a class of the `transformers` library divides texts.
struct Style {
    std::string_view tokenizer_class;
    std::string_view model_type;
    const std::string_view& pattern;
    bool composes;  ///< normalises to NFC
};

const std::array kStyles = {
    Style{"GPT2Tokenizer", "gpt2", kGpt2Pattern, false},
    Style{"CodeGenTokenizer", "codegen", kGpt2Pattern, false},
    Style{"Qwen2Tokenizer", "qwen2", kQwen2Pattern, true},
    Style{"Qwen2Tokenizer", "qwen3", kQwen2Pattern, true},
};

const Style& find_style(const TokenizerConfig& config, const FileSource& files) {
    for (const Style& style : kStyles)
        if (config.tokenizer_class.empty() ? style.model_type == config.model_type
                                           : style.tokenizer_class == config.tokenizer_class)
            return style;
    // GPT-2 was published as a vocabulary alone.
    if (config.tokenizer_class.empty() && config.model_type.empty()) return kStyles.front();
    const bool by_class = !config.tokenizer_class.empty();
    throw Error(files.where(by_class ? "tokenizer_config.json" : "config.json"),
                by_class ? "tokenizer_class" : "model_type",
                fmt::format("is {}: how it divides texts is not known",
                            by_class ? config.tokenizer_class : config.model_type),
                "a tokenizer.json says it; the `tokenizers` library writes one");
}

/// The special token of vocabularies of this form, which no file needs to name.
void add_end_of_text(TokenizerParts& parts) {
    constexpr std::string_view kEndOfText = "<|endoftext|>";
    const auto id = parts.vocabulary.find(kEndOfText);
    if (id && std::none_of(parts.added.begin(), parts.added.end(),
                           [&](const auto& added) { return added.id == *id; }))
        parts.added.push_back({.id = *id, .content = std::string(kEndOfText), .special = true});
}

}  // namespace

TokenizerParts read_vocabulary_and_merges(FileSource& files) {
    const TokenizerConfig config = read_tokenizer_config(files);
    const Style& style = find_style(config, files);
    TokenizerParts parts;
    parts.vocabulary = read_vocabulary_json(files.read("vocab.json"), files.where("vocab.json"));
    const std::string merges = files.where("merges.txt");
    parts.model = Bpe(make_merges(read_merges_text(files.read("merges.txt"), merges), parts.vocabulary, "",
                                  UnknownMerge::kRefuse, merges),
                      {});
    parts.added = config.added_tokens;
    add_special_tokens(config, parts);
    add_end_of_text(parts);
    if (style.composes) parts.normalizer.emplace_back(UnicodeForm::kNfc);
    parts.pre_tokenizer = byte_level_steps({style.pattern}, config.add_prefix_space.value_or(false));
    parts.decoder.token_steps.emplace_back(DecodeByteAlphabet{});
    set_special_ids(config, parts);
    if (config.add_bos_token.value_or(false) && parts.bos) parts.prefix = {*parts.bos};
    if (config.add_eos_token.value_or(false) && !parts.eos.empty()) parts.suffix = {parts.eos.front()};
    return parts;
}

}  // namespace tessera::llm
