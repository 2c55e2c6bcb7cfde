#include "llm/tokenizer.h"

#include <algorithm>
#include <utility>

#include "llm/tokenizer_parts.h"
#include "support/error.h"

namespace tessera::llm {
namespace {

/// Positions inside a text are 32 bits, and normalisation may make it longer.
constexpr size_t kLongestText = size_t{1} << 30;

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
    for (TextSection& section :
         parts_->splitter.split(text, parts_->normalizer, options.parse_special, options.foreign)) {
        if (section.token) {
            ids.push_back(*section.token);
            continue;
        }
        const Pieces pieces = pre_tokenize(parts_->pre_tokenizer, std::move(section.text), section.at_start);
        for (size_t i = 0; i < pieces.ranges.size(); ++i)
            parts_->bpe.encode(parts_->vocabulary, pieces.piece(i), ids);
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
    std::string text;
    for (const TokenId id : ids) {
        check_id(id);
        if (!options.skip_special || !is_special(id)) text += token_bytes(id);
    }
    for (const StripFront& strip : parts_->decoder.front) {
        FrontStripper stripper(strip);
        text = stripper.push(text);
        text += stripper.finish();
    }
    return text;
}

std::string Tokenizer::token_bytes(TokenId id) const {
    check_id(id);
    const auto added = parts_->added_by_id.find(id);
    if (added != parts_->added_by_id.end())
        return apply(parts_->decoder.token_steps, parts_->added_texts[added->second], true);
    // Ids in gaps of the vocabulary have no text.
    if (!parts_->vocabulary.contains(id)) return {};
    return apply(parts_->decoder.token_steps, parts_->vocabulary.text(id), false);
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
