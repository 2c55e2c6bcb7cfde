#include <array>

#include "import/gguf/gguf_parts.h"
#include "run/llm/chat_template.h"
#include "run/llm/file_source.h"
#include "run/llm/tokenizer_config.h"
#include "run/llm/tokenizer_sources.h"
#include "support/error.h"
#include "support/json.h"

namespace tessera::llm {
namespace {

constexpr std::string_view kConfig = "tokenizer_config.json";
constexpr JsonBounds kTemplateBounds{.bytes = size_t{64} << 20, .values = 2'000'000};

/// A text, or a list of named templates.
std::string default_template(const JsonCursor& field) {
    if (!field.is_array()) return field.string();
    for (const JsonCursor& named : field.items())
        if (named.at("name").string() == "default") return named.at("template").string();
    field.fail("has no template with the name default", "write the one to use into chat_template.jinja");
}

std::optional<ChatTemplateSource> read_from_files(FileSource& files) {
    ChatTemplateSource source;
    std::optional<std::string> text;
    if (files.contains(kConfig)) {
        const JsonCursor config = parse_json(files.read(kConfig), files.where(kConfig), kTemplateBounds);
        if (const auto field = config.find("chat_template")) {
            text = default_template(*field);
            source.where = files.where(kConfig) + ": chat_template";
        }
    }
    // The newer place of a template counts before the older ones.
    if (constexpr std::string_view kJson = "chat_template.json"; files.contains(kJson)) {
        const JsonCursor file = parse_json(files.read(kJson), files.where(kJson), kTemplateBounds);
        text = default_template(file.at("chat_template"));
        source.where = files.where(kJson) + ": chat_template";
    }
    if (constexpr std::string_view kFile = "chat_template.jinja"; files.contains(kFile)) {
        text = std::string(files.read(kFile));
        source.where = files.where(kFile);
    }
    if (!text) return std::nullopt;
    source.text = std::move(*text);
    TokenizerConfig config = read_tokenizer_config(files);
    for (auto& [name, token] : config.named_tokens)
        source.special_tokens.emplace_back(name, std::move(token.content));
    source.control_tokens = std::move(config.chat_control_tokens);
    return source;
}

std::optional<ChatTemplateSource> read_from_gguf(const import::GgufFile& file) {
    constexpr const char* kKey = "tokenizer.chat_template";
    const import::GgufMetadata& metadata = file.metadata();
    const auto text = metadata.get_string(kKey);
    if (!text) return std::nullopt;
    ChatTemplateSource source{.text = std::string(*text), .where = fmt::format("{}: {}", file.path(), kKey)};
    const auto tokens = metadata.get_array<std::string_view>("tokenizer.ggml.tokens");
    constexpr std::array<std::pair<const char*, const char*>, 6> kKeys = {
        {{"bos_token", "tokenizer.ggml.bos_token_id"},
         {"eos_token", "tokenizer.ggml.eos_token_id"},
         {"unk_token", "tokenizer.ggml.unknown_token_id"},
         {"sep_token", "tokenizer.ggml.seperator_token_id"},  // spelled so in the format
         {"pad_token", "tokenizer.ggml.padding_token_id"},
         {"mask_token", "tokenizer.ggml.mask_token_id"}}};
    for (const auto& [name, key] : kKeys)
        for (const int64_t id : metadata.get_integers(key))
            if (tokens && id >= 0 && std::cmp_less(id, tokens->size()))
                source.special_tokens.emplace_back(name, std::string((*tokens)[static_cast<size_t>(id)]));
    return source;
}

}  // namespace

std::optional<ChatTemplateSource> read_chat_template(const std::filesystem::path& model) {
    if (std::filesystem::is_directory(model)) {
        FileSource files(model);
        return read_from_files(files);
    }
    return read_from_gguf(import::GgufParts::open_first(model));
}

std::optional<ChatTemplateSource> read_chat_template(std::span<const runtime::NamedFile> named,
                                                     const std::string& where) {
    FileSource files(named, where);
    if (!files.contains(kTokenizerGguf)) return read_from_files(files);
    const std::string_view text = files.read(kTokenizerGguf);
    return read_from_gguf(
        import::GgufFile::parse(std::as_bytes(std::span(text)), files.where(kTokenizerGguf)));
}

}  // namespace tessera::llm
