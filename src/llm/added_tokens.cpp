#include "llm/added_tokens.h"

#include <algorithm>
#include <utility>

#include "llm/utf8.h"

namespace tessera::llm {
namespace {

/// The last character of a text; steps back over at most three continuation bytes.
Utf8Step last_character(std::string_view text) {
    for (size_t size = std::min<size_t>(4, text.size()); size > 1; --size) {
        const Utf8Step step = first_character(text.substr(text.size() - size));
        if (step.valid && step.length == size) return step;
    }
    return first_character(text.substr(text.size() - 1));
}

bool ends_in_word(std::string_view text) {
    return !text.empty() && is_word_character(last_character(text).code_point);
}

bool begins_with_word(std::string_view text) {
    return !text.empty() && is_word_character(first_character(text).code_point);
}

size_t white_space_at_end(std::string_view text) {
    size_t size = 0;
    while (size < text.size()) {
        const Utf8Step step = last_character(text.substr(0, text.size() - size));
        if (!is_white_space(step.code_point)) break;
        size += step.length;
    }
    return size;
}

size_t white_space_at_begin(std::string_view text) {
    size_t size = 0;
    while (size < text.size()) {
        const Utf8Step step = first_character(text.substr(size));
        if (!is_white_space(step.code_point)) break;
        size += step.length;
    }
    return size;
}

}  // namespace

AddedTokenSplitter::AddedTokenSplitter(std::vector<AddedToken> tokens,
                                       std::span<const NormalizerStep> normalizer)
    : tokens_(std::move(tokens)) {
    std::vector<std::string> raw;
    std::vector<std::string> normalized;
    for (size_t i = 0; i < tokens_.size(); ++i) {
        const AddedToken& token = tokens_[i];
        (token.normalized ? normalized_tokens_ : raw_tokens_).push_back(i);
        if (token.normalized)
            normalized.push_back(normalize(normalizer, token.content));
        else
            raw.push_back(token.content);
    }
    raw_patterns_ = PatternSet(raw);
    normalized_patterns_ = PatternSet(normalized);
}

std::vector<AddedTokenSplitter::Found> AddedTokenSplitter::find(std::string_view text,
                                                                const PatternSet& patterns,
                                                                const std::vector<size_t>& tokens,
                                                                bool parse_special) const {
    std::vector<Found> found;
    size_t covered = 0;  // up to here the text belongs to earlier tokens
    for (size_t at = 0; at < text.size();) {
        const auto match = patterns.longest_prefix(text.substr(at));
        if (!match) {
            ++at;
            continue;
        }
        const AddedToken& token = tokens_[tokens[match->pattern]];
        TextRange range{at, at + match->size};
        at = range.end;
        if (token.special && !parse_special) continue;
        if (token.single_word &&
            (ends_in_word(text.substr(0, range.begin)) || begins_with_word(text.substr(range.end))))
            continue;
        if (token.lstrip)
            range.begin = std::max(covered, range.begin - white_space_at_end(text.substr(0, range.begin)));
        if (token.rstrip) range.end += white_space_at_begin(text.substr(range.end));
        found.push_back({&token, range});
        covered = at = range.end;
    }
    return found;
}

std::vector<TextSection> AddedTokenSplitter::split(std::string_view text,
                                                   std::span<const NormalizerStep> normalizer,
                                                   bool parse_special) const {
    std::vector<TextSection> sections;
    // Appends what `found` divides `whole` into; `between` takes the texts.
    const auto divide = [&](std::string_view whole, const std::vector<Found>& found, auto between) {
        size_t covered = 0;
        for (const Found& item : found) {
            if (covered < item.range.begin)
                between(whole.substr(covered, item.range.begin - covered), covered == 0);
            sections.push_back(
                {item.token->id, std::string(whole.substr(item.range.begin, item.range.size()))});
            covered = item.range.end;
        }
        if (covered < whole.size()) between(whole.substr(covered), covered == 0);
    };
    divide(text, find(text, raw_patterns_, raw_tokens_, parse_special),
           [&](std::string_view raw, bool first) {
               const std::string normalized = normalize(normalizer, raw);
               divide(normalized, find(normalized, normalized_patterns_, normalized_tokens_, parse_special),
                      [&](std::string_view rest, bool also_first) {
                          sections.push_back({std::nullopt, std::string(rest), first && also_first});
                      });
           });
    return sections;
}

}  // namespace tessera::llm
