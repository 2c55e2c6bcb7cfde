#include "run/llm/tokenizer.h"

#include <algorithm>
#include <utility>

#include <fmt/ranges.h>

#include "run/llm/tokenizer_parts.h"
#include "run/llm/utf8.h"
#include "support/error.h"

namespace tessera::llm {
namespace {

/// Positions inside a text are 32 bits, and normalisation may make it longer.
constexpr size_t kLongestText = size_t{1} << 30;

/// The ids of a normalised text without added tokens.
std::vector<TokenId> section_ids(const TokenizerParts& parts, std::string text, bool at_start) {
    std::vector<TokenId> ids;
    const Pieces pieces = pre_tokenize(parts.pre_tokenizer, std::move(text), at_start);
    for (size_t i = 0; i < pieces.ranges.size(); ++i)
        std::visit([&](const auto& model) { model.encode(parts.vocabulary, pieces.piece(i), ids); },
                   parts.model);
    return ids;
}

/// The ids of a text after a newline, without those of the newline.
std::vector<TokenId> ids_behind_newline(const TokenizerParts& parts, const TextSection& section) {
    std::vector<TokenId> ids = section_ids(parts, section.text, false);
    const std::vector<TokenId> newline = section_ids(parts, normalize(parts.normalizer, "\n"), false);
    if (ids.size() < newline.size() || !std::equal(newline.begin(), newline.end(), ids.begin()))
        return section_ids(parts, section.alone, false);
    ids.erase(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(newline.size()));
    return ids;
}

void append_ids(const TokenizerParts& parts, const TextSection& section, std::vector<TokenId>& out) {
    std::vector<TokenId> ids = section.continues ? ids_behind_newline(parts, section)
                                                 : section_ids(parts, section.text, section.at_start);
    if (section.masked && std::find(ids.begin(), ids.end(), *section.masked) != ids.end()) {
        // The model itself finds the token, but not in single characters.
        ids.clear();
        std::string_view rest = section.continues ? section.alone : section.text;
        while (!rest.empty()) {
            const size_t size = first_character(rest).length;
            for (const TokenId id : section_ids(parts, std::string(rest.substr(0, size)), false))
                ids.push_back(id);
            rest.remove_prefix(size);
        }
    }
    out.insert(out.end(), ids.begin(), ids.end());
}

}  // namespace

Tokenizer::Tokenizer(TokenizerParts parts) {
    std::sort(parts.added.begin(), parts.added.end(),
              [](const AddedToken& a, const AddedToken& b) { return a.id < b.id; });
    std::sort(parts.eos.begin(), parts.eos.end());
    parts.eos.erase(std::unique(parts.eos.begin(), parts.eos.end()), parts.eos.end());
    parts.vocabulary_size = parts.vocabulary.size();
    for (size_t i = 0; i < parts.added.size(); ++i) {
        const AddedToken& added = parts.added[i];
        parts.added_by_id.emplace(added.id, i);
        // A token that is found in normalised text is decoded from its normalised form.
        parts.added_texts.push_back(added.normalized ? normalize(parts.normalizer, added.content)
                                                     : added.content);
        parts.vocabulary_size = std::max<size_t>(parts.vocabulary_size, added.id + size_t{1});
        // Only the splitter finds special tokens: any text that it leaves is a user's.
        if (added.special && parts.vocabulary.contains(added.id)) parts.vocabulary.hide(added.id);
    }
    parts.splitter = AddedTokenSplitter(parts.added, parts.normalizer);
    parts_ = std::make_shared<const TokenizerParts>(std::move(parts));
}

std::vector<TokenId> Tokenizer::encode(std::string_view text, const EncodeOptions& options) const {
    if (text.size() > kLongestText)
        throw Error("tokenizer", "",
                    fmt::format("the text has {} bytes, at most {} are possible", text.size(), kLongestText));
    std::vector<TokenId> ids;
    if (options.add_special) ids = parts_->prefix;
    for (const TextSection& section : parts_->splitter.split(text, parts_->normalizer, options.parse_special,
                                                             {options.foreign, options.control})) {
        if (section.token)
            ids.push_back(*section.token);
        else
            append_ids(*parts_, section, ids);
    }
    if (options.add_special) ids.insert(ids.end(), parts_->suffix.begin(), parts_->suffix.end());
    return ids;
}

std::vector<TokenId> Tokenizer::encode_prompt(std::string_view text, bool parse_special) const {
    std::vector<TokenId> ids = parts_->prefix;
    const std::vector<TokenId> own = encode(text, {.add_special = false, .parse_special = parse_special});
    ids.insert(ids.end(), own.begin(), own.end());
    return ids;
}

std::string Tokenizer::decode(std::span<const TokenId> ids, const DecodeOptions& options) const {
    std::vector<TokenId> shown;
    for (const TokenId id : ids) {
        check_id(id);
        if (has_text(id) && !(options.skip_special && is_special(id))) shown.push_back(id);
    }
    std::vector<std::string> tokens;
    for (size_t i = 0; i < shown.size(); ++i)
        tokens.push_back(token_bytes(shown[i], {.first = i == 0, .last = i + 1 == shown.size()}));
    for (const StripFront& strip : parts_->decoder.front) {
        FrontStripper stripper(strip);
        for (size_t i = 0; i < tokens.size(); ++i) tokens[i] = stripper.push(tokens[i], is_byte(shown[i]));
        tokens.push_back(stripper.finish());
    }
    return fmt::format("{}", fmt::join(tokens, ""));
}

std::string Tokenizer::token_bytes(TokenId id) const {
    return token_bytes(id, TokenPlace{});
}

std::string Tokenizer::token_bytes(TokenId id, TokenPlace place) const {
    check_id(id);
    if (!has_text(id)) return {};
    const auto added = parts_->added_by_id.find(id);
    if (added != parts_->added_by_id.end())
        return apply(parts_->decoder.token_steps, parts_->added_texts[added->second], true, place);
    return apply(parts_->decoder.token_steps, parts_->vocabulary.text(id), false, place);
}

bool Tokenizer::is_byte(TokenId id) const {
    return !parts_->added_by_id.contains(id) && parts_->vocabulary.contains(id) &&
           byte_of_token(parts_->vocabulary.text(id)) >= 0;
}

bool Tokenizer::has_text(TokenId id) const {
    return parts_->added_by_id.contains(id) || parts_->vocabulary.contains(id);
}

void Tokenizer::check_id(TokenId id) const {
    if (id < 0 || static_cast<size_t>(id) >= vocabulary_size())
        throw Error("tokenizer", "",
                    fmt::format("the vocabulary has no token {}: ids are 0 to {}", id,
                                static_cast<int64_t>(vocabulary_size()) - 1));
}

size_t Tokenizer::vocabulary_size() const {
    return parts_->vocabulary_size;
}

std::optional<TokenId> Tokenizer::find(std::string_view token) const {
    for (const AddedToken& added : parts_->added)
        if (added.content == token) return added.id;
    return parts_->vocabulary.find(token);
}

bool Tokenizer::is_special(TokenId id) const {
    const auto added = parts_->added_by_id.find(id);
    return added != parts_->added_by_id.end() && parts_->added[added->second].special;
}

std::optional<TokenId> Tokenizer::bos() const {
    return parts_->bos;
}
const std::vector<TokenId>& Tokenizer::eos() const {
    return parts_->eos;
}
bool Tokenizer::adds_bos() const {
    return parts_->bos &&
           std::find(parts_->prefix.begin(), parts_->prefix.end(), *parts_->bos) != parts_->prefix.end();
}
const TokenDecoder& Tokenizer::decoder() const {
    return parts_->decoder;
}
const std::vector<AddedToken>& Tokenizer::added_tokens() const {
    return parts_->added;
}

}  // namespace tessera::llm
