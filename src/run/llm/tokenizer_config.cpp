#include "run/llm/tokenizer_config.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "run/llm/read_added_token.h"
#include "support/error.h"
#include "support/json.h"

namespace tessera::llm {
namespace {

/// Some models list a hundred thousand added tokens here, with five settings each.
constexpr JsonBounds kConfigBounds{.bytes = size_t{64} << 20, .values = 2'000'000};

/// In the order in which `transformers` adds those that are missing; other roles come behind them.
constexpr std::array<std::string_view, 7> kTokenRoles = {"bos_token", "eos_token", "unk_token", "sep_token",
                                                         "pad_token", "cls_token", "mask_token"};

/// The id behind all others.
TokenId next_id(const TokenizerParts& parts) {
    auto next = static_cast<TokenId>(parts.vocabulary.size());
    for (const AddedToken& token : parts.added) next = std::max(next, token.id + 1);
    return next;
}

/// A token is named by its text, or by an object with its `content`.
AddedToken special_token(const JsonCursor& token) {
    AddedToken special;
    if (token.is_object())
        special = read_added_token(token, 0);
    else
        special.content = token.string();
    special.special = true;
    if (!token.is_object() || !token.find("normalized")) special.normalized = false;
    return special;
}

/// The special tokens of one file, which go before those that were read earlier.
void read_special_tokens(const JsonCursor& file, TokenizerConfig& config) {
    for (const std::string& key : file.keys()) {
        const auto value = file.find(key);  // null: none
        if (value && key.ends_with("_token") && (value->is_string() || value->is_object()))
            config.named_tokens.insert_or_assign(key, special_token(*value));
    }
    for (const char* key : {"additional_special_tokens", "extra_special_tokens"}) {
        const auto more = file.find(key);
        if (!more) continue;
        if (more->is_object())
            for (const std::string& name : more->keys())
                config.named_tokens.insert_or_assign(name, special_token(more->at(name)));
        else
            for (const JsonCursor& token : more->items())
                config.more_special_tokens.push_back(special_token(token));
    }
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

/// `added_tokens.json`: ids by text. It may repeat what the decoder says, and must not say anything else.
void read_added_ids(const JsonCursor& file, TokenizerConfig& config) {
    std::unordered_set<std::string> special;
    for (const auto& [name, token] : config.named_tokens) special.insert(token.content);
    for (const AddedToken& token : config.more_special_tokens) special.insert(token.content);
    std::unordered_map<std::string, TokenId> ids;
    std::unordered_map<TokenId, std::string> texts;
    for (const AddedToken& token : config.added_tokens) {
        ids.emplace(token.content, token.id);
        texts.emplace(token.id, token.content);
    }
    for (const std::string& content : file.keys()) {
        const auto id = static_cast<TokenId>(file.at(content).integer(0, Vocabulary::kLargestId));
        const TokenId other = ids.emplace(content, id).first->second;
        const std::string& text = texts.emplace(id, content).first->second;
        if (!config.conflict && (other != id || text != content))
            config.conflict = Error(
                file.file(), file.at(content).place(),
                fmt::format("is {}, but {} says that {} is \"{}\"", id,
                            config.has_decoder ? "added_tokens_decoder of tokenizer_config.json" : "the file",
                            other != id ? other : id, other != id ? content : text),
                "give the token one id in both files");
        if (config.has_decoder) continue;
        const bool is_special = special.contains(content);
        config.added_tokens.push_back(
            {.id = id, .content = content, .special = is_special, .normalized = !is_special});
    }
}

/// The files of tokenizers alone.
void read_tokenizer_files(FileSource& files, TokenizerConfig& config) {
    if (constexpr std::string_view kName = "tokenizer_config.json"; files.contains(kName)) {
        const JsonCursor file = parse_json(files.read(kName), files.where(kName), kConfigBounds);
        config.tokenizer_class = file.string_or("tokenizer_class", "");
        if (config.tokenizer_class.ends_with("Fast"))
            config.tokenizer_class.resize(config.tokenizer_class.size() - std::string_view("Fast").size());
        read_special_tokens(file, config);
        config.add_bos_token = flag(file, "add_bos_token");
        config.add_eos_token = flag(file, "add_eos_token");
        config.add_prefix_space = flag(file, "add_prefix_space");
        config.legacy = flag(file, "legacy");
        if (flag(file, "split_special_tokens").value_or(false))
            throw Error(file.file(), "split_special_tokens", "is true, which is not supported",
                        "remove it: special tokens that a user spells are text in any case");
        if (const auto control = file.find("chat_control_tokens")) {
            config.chat_control_tokens.emplace();
            for (const JsonCursor& token : control->items())
                config.chat_control_tokens->push_back(token.string());
        }
        if (const auto decoder = file.find("added_tokens_decoder")) {
            config.has_decoder = true;
            read_added_tokens(*decoder, config);
        }
    }
    if (constexpr std::string_view kName = "special_tokens_map.json";
        !config.has_decoder && files.contains(kName))
        read_special_tokens(parse_json(files.read(kName), files.where(kName), kConfigBounds), config);
    if (constexpr std::string_view kName = "added_tokens.json"; files.contains(kName))
        read_added_ids(parse_json(files.read(kName), files.where(kName), kConfigBounds), config);
}

}  // namespace

std::optional<std::string> TokenizerConfig::token(std::string_view name) const {
    const auto found = named_tokens.find(name);
    if (found == named_tokens.end()) return std::nullopt;
    return found->second.content;
}

TokenizerConfig read_tokenizer_config(FileSource& files) {
    TokenizerConfig config;
    read_tokenizer_files(files, config);
    for (const std::string_view name : {"generation_config.json", "config.json"}) {
        if (!files.contains(name)) continue;
        const JsonCursor file = parse_json(files.read(name), files.where(name), kConfigBounds);
        read_ids(file, config);
        if (name == "config.json") config.model_type = file.string_or("model_type", "");
    }
    return config;
}

void add_special_tokens(const TokenizerConfig& config, TokenizerParts& parts) {
    std::unordered_map<std::string, size_t> known;
    for (size_t i = 0; i < parts.added.size(); ++i) known.emplace(parts.added[i].content, i);
    const auto add = [&](const AddedToken& token) {
        if (const auto found = known.find(token.content); found != known.end()) {
            parts.added[found->second].special = true;
            parts.added[found->second].in_model = false;
            return;
        }
        if (token.content.empty()) return;
        known.emplace(token.content, parts.added.size());
        const TokenId id = parts.vocabulary.find(token.content).value_or(next_id(parts));
        parts.added.push_back(token);
        parts.added.back().id = id;
    };
    for (const std::string_view role : kTokenRoles)
        if (const auto named = config.named_tokens.find(role); named != config.named_tokens.end())
            add(named->second);
    for (const auto& [name, token] : config.named_tokens) add(token);
    for (const AddedToken& token : config.more_special_tokens) add(token);
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
    parts.bos = id_of_text(config.token("bos_token"));
    if (!parts.bos && !parts.prefix.empty()) parts.bos = parts.prefix.front();
    if (!parts.bos && config.bos_id && is_known(*config.bos_id)) parts.bos = config.bos_id;
    if (const auto eos = id_of_text(config.token("eos_token"))) parts.eos.push_back(*eos);
    for (const TokenId id : config.eos_ids)
        if (is_known(id)) parts.eos.push_back(id);
}

}  // namespace tessera::llm
