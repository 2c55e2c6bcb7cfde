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
constexpr std::string_view kUpToThreeNumbers = R"(\p{N}{1,3})";
constexpr std::string_view kThreeNumbersFromBehind = R"(\d{1,3}(?=(?:\d{3})*\b))";
constexpr std::string_view kLineEnd = R"([\r\n])";

// o200k of tiktoken: capitals, then small letters; a contraction stays with its word.
constexpr std::string_view kO200kPattern =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kO200kOneDigitPattern =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
// Tekken of Mistral: the same without contractions, and with single digits.
constexpr std::string_view kTekkenPattern =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
// Kimi K2: as o200k, but runs of Han characters are words of their own.
constexpr std::string_view kKimiPattern =
    R"(\p{Han}+|[^\r\n\p{L}\p{N}]?(?:(?!\p{Han})[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])*(?:(?!\p{Han})[\p{Ll}\p{Lm}\p{Lo}\p{M}])+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?(?:(?!\p{Han})[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])+(?:(?!\p{Han})[\p{Ll}\p{Lm}\p{Lo}\p{M}])*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
// Qwen 3.5: marks belong to words.
constexpr std::string_view kQwen35Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

// The first two generations of DeepSeek: letters with case, as Unicode 12 had them.
constexpr std::string_view kDeepSeekLetters =
    R"(\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-\x{1F7D}ᾀ-ᾴᾶ-ᾼ\x{1FBE}ῂ-ῄῆ-ῌῐ-\x{1FD3}ῖ-\x{1FDB}ῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤ\x{2126}ℨ\x{212A}-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃]+)";
constexpr std::string_view kDeepSeekPunctuation = R"(\s?[!-/:-~！-／：-～‘-‟　-。]+)";
constexpr std::string_view kChineseAndKana = R"([一-龥぀-ゟ゠-ヿ]+)";
constexpr std::string_view kDeepSeekWords =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kChineseAndKorean = R"([一-龥ࠀ-一가-퟿]+)";
constexpr std::string_view kBloomPattern = R"( ?[^(\s|.,!?…。，、।۔،)]+)";
constexpr std::string_view kBailingPattern =
    R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)";
constexpr std::string_view kSeedPattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kExaoneMoePattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+)";
constexpr std::string_view kYoutuScripts =
    R"([가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥぀-ゟ゠-ヿ]+)";
constexpr std::string_view kLines = R"([^\n]+|[\n]+)";
constexpr std::string_view kJais2Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|\s{8}(?!\S)|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1})";

struct Entry {
    std::vector<std::string_view> names;
    BytePreTokenizer meaning;
};

const std::vector<Entry>& table() {
    static const std::vector<Entry> kTable = {
        {{"gpt-2", "phi-2", "mpt", "olmo", "jais", "trillion", "granite-docling", "gigachat", "mellum",
          "exaone4", "modern-bert", "jina-es", "jina-de", "jina-v2-es", "jina-v2-de", "a.x-4.0"},
         {.patterns = {kGpt2Pattern}}},
        {{"llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2",
          "jina-v5-nano"},
         {.patterns = {kLlama3Pattern}, .adds_bos = true, .ignores_merges = true}},
        {{"smaug-bpe", "dbrx", "glm4", "chatglm-bpe"}, {.patterns = {kLlama3Pattern}}},
        {{"qwen2", "deepseek-r1-qwen", "megrez", "kormo", "f2llmv2"},
         {.patterns = {kQwen2Pattern}, .composes = true}},
        {{"qwen35"}, {.patterns = {kQwen35Pattern}, .composes = true}},
        {{"stablelm2", "hunyuan", "solar-open", "grok-2"}, {.patterns = {kQwen2Pattern}}},
        {{"laguna"}, {.patterns = {kLines, kQwen2Pattern}}},
        {{"gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2"}, {.patterns = {kO200kPattern}}},
        {{"tiny_aya", "cohere2moe"}, {.patterns = {kThreeNumbersFromBehind, kO200kPattern}}},
        {{"youtu"}, {.patterns = {kYoutuScripts, kO200kOneDigitPattern}, .ignores_merges = true}},
        {{"tekken"}, {.patterns = {kTekkenPattern}, .adds_bos = true, .ignores_merges = true}},
        {{"kimi-k2"}, {.patterns = {kKimiPattern}}},
        {{"deepseek-llm"},
         {.patterns = {kLineEnd, kDeepSeekLetters, kDeepSeekPunctuation, R"(\s+$)", kChineseAndKorean,
                       kNumbers}}},
        {{"deepseek-coder"},
         {.patterns = {kLineEnd, R"(\s?\p{L}+)", R"(\s?\p{P}+)", kChineseAndKorean, kNumber}}},
        {{"deepseek-v3", "hunyuan-dense", "joyai-llm", "hy_v4"},
         {.patterns = {kUpToThreeNumbers, kChineseAndKana, kDeepSeekWords}}},
        {{"bailingmoe", "bailingmoe2", "llada-moe"}, {.patterns = {kBailingPattern}}},
        {{"seed-coder"}, {.patterns = {kSeedPattern}}},
        {{"exaone-moe"}, {.patterns = {kExaoneMoePattern}}},
        {{"jais-2"}, {.patterns = {kJais2Pattern}}},
        {{"bloom", "poro-chat", "gpt3-finnish"}, {.patterns = {kBloomPattern}}},
        {{"viking"}, {.patterns = {kBloomPattern, kNumber}}},
        {{"smollm", "starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b", "mellum2"},
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
