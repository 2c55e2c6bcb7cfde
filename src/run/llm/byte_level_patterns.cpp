#include "run/llm/byte_level_patterns.h"

#include <algorithm>

namespace tessera::llm {

const std::string_view kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
const std::string_view kLlama3Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
const std::string_view kQwen2Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

namespace {

constexpr std::string_view kNumber = R"(\p{N})";
constexpr std::string_view kNumbers = R"(\p{N}+)";
constexpr std::string_view kThreeDigits = "[0-9][0-9][0-9]";
constexpr std::string_view kPunctuation = R"([\p{P}\$\+<=>\^~\|]+)";
constexpr std::string_view kPunctuationAndBackquote = R"([\p{P}\$\+<=>\^~\|`]+)";

struct Entry {
    std::vector<std::string_view> names;
    BytePreTokenizer meaning;
};

const std::vector<Entry>& table() {
    static const std::vector<Entry> kTable = {
        {{"gpt-2", "phi-2", "mpt", "olmo", "jais", "trillion", "granite-docling", "gigachat", "mellum",
          "exaone4", "modern-bert", "jina-es", "jina-de", "jina-v2-es", "jina-v2-de", "a.x-4.0"},
         {.patterns = {kGpt2Pattern}}},
        {{"llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2"},
         {.patterns = {kLlama3Pattern}, .adds_bos = true, .ignores_merges = true}},
        {{"smaug-bpe", "dbrx"}, {.patterns = {kLlama3Pattern}}},
        {{"qwen2", "deepseek-r1-qwen", "megrez", "kormo"}, {.patterns = {kQwen2Pattern}, .composes = true}},
        {{"stablelm2", "hunyuan"}, {.patterns = {kQwen2Pattern}}},
        {{"smollm", "starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b"},
         {.patterns = {kNumber, kGpt2Pattern}}},
        {{"falcon"}, {.patterns = {kPunctuationAndBackquote, kGpt2Pattern, kThreeDigits}}},
        {{"default"}, {.patterns = {kPunctuation, kGpt2Pattern, kNumbers, kThreeDigits}}},
    };
    return kTable;
}

}  // namespace

std::optional<BytePreTokenizer> byte_pre_tokenizer(std::string_view name) {
    for (const Entry& entry : table())
        if (std::find(entry.names.begin(), entry.names.end(), name) != entry.names.end())
            return entry.meaning;
    return std::nullopt;
}

std::vector<std::string_view> byte_pre_tokenizer_names() {
    std::vector<std::string_view> names;
    for (const Entry& entry : table()) names.insert(names.end(), entry.names.begin(), entry.names.end());
    return names;
}

std::vector<PreTokenizerStep> byte_level_steps(const std::vector<std::string_view>& patterns,
                                               bool space_in_front) {
    std::vector<PreTokenizerStep> steps;
    if (space_in_front) steps.emplace_back(SpaceInFront{});
    for (const std::string_view pattern : patterns)
        steps.emplace_back(
            Split{Regex::compile(pattern, "built-in pattern"), SplitBehaviour::kIsolated, false});
    steps.emplace_back(MapBytes{});
    return steps;
}

}  // namespace tessera::llm
