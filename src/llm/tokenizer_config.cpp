#include "llm/tokenizer_config.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "llm/read_added_token.h"
#include "support/error.h"
#include "support/json.h"

namespace tessera::llm {
namespace {

/// Some models list a hundred thousand added tokens here, with five settings each.
constexpr JsonBounds kConfigBounds{.bytes = size_t{64} << 20, .values = 2'000'000};

/// A token is named by its text, or by an object with its `content`.
std::optional<std::string> token_text(const JsonCursor& file, std::string_view key) {
    const auto token = file.find(key);
    if (!token) return std::nullopt;
    return token->is_object() ? token->at("content").string() : token->string();
}

std::optional<bool> flag(const JsonCursor& file, std::string_view key) {
    const auto found = file.find(key);
    if (!found) return std::nullopt;
    return found->boolean();
}

/// A number or a list of them. Those that no vocabulary has are none, as -1 is; the import warns of them.
std::vector<TokenId> ids_of(const JsonCursor& file, std::string_view key) {
    std::vector<TokenId> ids;
    const auto found = file.find(key);
    if (!found) return ids;
    for (const JsonCursor& each : found->is_array() ? found->items() : std::vector<JsonCursor>{*found}) {
        const int64_t id = each.integer(INT64_MIN, INT64_MAX);
        if (id >= 0 && id <= Vocabulary::kLargestId) ids.push_back(static_cast<TokenId>(id));
    }
    return ids;
}

/// BOS and EOS of config.json and generation_config.json.
void read_ids(const JsonCursor& file, TokenizerConfig& config) {
    if (const auto bos = file.find("bos_token_id"); bos && (bos->is_integer() || bos->is_array())) {
        const std::vector<TokenId> ids = ids_of(file, "bos_token_id");
        if (!config.bos_id && !ids.empty()) config.bos_id = ids.front();
    }
    const std::vector<TokenId> eos = ids_of(file, "eos_token_id");
    config.eos_ids.insert(config.eos_ids.end(), eos.begin(), eos.end());
}

void read_added_tokens(const JsonCursor& decoder, TokenizerConfig& config) {
    for (const std::string& key : decoder.keys()) {
        const JsonCursor token = decoder.at(key);
        TokenId id = 0;
        const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), id);
        if (error != std::errc() || end != key.data() + key.size() || id < 0 || id > Vocabulary::kLargestId)
            token.fail(fmt::format("is named by \"{}\", expected an id", key));
        config.added_tokens.push_back(read_added_token(token, id));
    }
}

}  // namespace

TokenizerConfig read_tokenizer_config(FileSource& files) {
    TokenizerConfig config;
    if (constexpr std::string_view kName = "tokenizer_config.json"; files.contains(kName)) {
        const JsonCursor file = parse_json(files.read(kName), files.where(kName), kConfigBounds);
        config.tokenizer_class = file.string_or("tokenizer_class", "");
        if (config.tokenizer_class.ends_with("Fast"))
            config.tokenizer_class.resize(config.tokenizer_class.size() - std::string_view("Fast").size());
        config.bos_token = token_text(file, "bos_token");
        config.eos_token = token_text(file, "eos_token");
        config.add_bos_token = flag(file, "add_bos_token");
        config.add_eos_token = flag(file, "add_eos_token");
        config.add_prefix_space = flag(file, "add_prefix_space");
        if (const auto decoder = file.find("added_tokens_decoder")) read_added_tokens(*decoder, config);
    }
    for (const std::string_view name : {"generation_config.json", "config.json"}) {
        if (!files.contains(name)) continue;
        const JsonCursor file = parse_json(files.read(name), files.where(name), kConfigBounds);
        read_ids(file, config);
        if (name == "config.json") config.model_type = file.string_or("model_type", "");
    }
    return config;
}

void set_special_ids(const TokenizerConfig& config, TokenizerParts& parts) {
    const auto id_of_text = [&](const std::optional<std::string>& text) -> std::optional<TokenId> {
        if (!text) return std::nullopt;
        for (const AddedToken& added : parts.added)
            if (added.content == *text) return added.id;
        return parts.vocabulary.find(*text);
    };
    const auto is_known = [&](TokenId id) {
        return parts.vocabulary.contains(id) ||
               std::any_of(parts.added.begin(), parts.added.end(),
                           [&](const AddedToken& added) { return added.id == id; });
    };
    parts.bos = id_of_text(config.bos_token);
    if (!parts.bos && !parts.prefix.empty()) parts.bos = parts.prefix.front();
    if (!parts.bos && config.bos_id && is_known(*config.bos_id)) parts.bos = config.bos_id;
    if (const auto eos = id_of_text(config.eos_token)) parts.eos.push_back(*eos);
    for (const TokenId id : config.eos_ids)
        if (is_known(id)) parts.eos.push_back(id);
}

}  // namespace tessera::llm
