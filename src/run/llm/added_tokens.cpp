#include "run/llm/added_tokens.h"

#include <algorithm>
#include <utility>

#include "run/llm/utf8.h"

namespace tessera::llm {
namespace {

/// A newline: no word and no prefix goes on across it.
const std::string kInFront = "\n";

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

/// True if a byte of `range` is in one of the ranges.
bool foreign_within(std::span<const TextRange> foreign, TextRange range) {
    const auto first = std::partition_point(foreign.begin(), foreign.end(),
                                            [&](const TextRange& each) { return each.end <= range.begin; });
    return first != foreign.end() && first->begin < range.end;
}

/// True if all bytes of `range` are in one of the ranges.
bool is_foreign(std::span<const TextRange> foreign, TextRange range) {
    const auto first = std::partition_point(foreign.begin(), foreign.end(),
                                            [&](const TextRange& each) { return each.end <= range.begin; });
    return first != foreign.end() && first->begin <= range.begin && range.end <= first->end;
}

/// The position of the next foreign byte, from `at` on. @pre one follows
size_t end_of_own(std::span<const TextRange> foreign, size_t at) {
    const auto first = std::partition_point(foreign.begin(), foreign.end(),
                                            [&](const TextRange& each) { return each.end <= at; });
    return std::max(first->begin, at);
}

/// The ranges relative to a part of the text.
std::vector<TextRange> within(std::span<const TextRange> foreign, TextRange part) {
    std::vector<TextRange> inside;
    auto each = std::partition_point(foreign.begin(), foreign.end(),
                                     [&](const TextRange& other) { return other.end <= part.begin; });
    for (; each != foreign.end() && each->begin < part.end; ++each)
        inside.push_back(
            {std::max(each->begin, part.begin) - part.begin, std::min(each->end, part.end) - part.begin});
    return inside;
}

/// True if foreign text cannot spell the token.
bool is_control_token(const AddedToken& token, const ForeignText& foreign) {
    return token.special || std::binary_search(foreign.control.begin(), foreign.control.end(), token.id);
}

}  // namespace

AddedTokenSplitter::AddedTokenSplitter(std::vector<AddedToken> tokens,
                                       std::span<const NormalizerStep> normalizer)
    : tokens_(std::move(tokens)) {
    std::vector<std::string> raw;
    std::vector<std::string> normalized;
    std::vector<std::string> unnormalized;
    for (size_t i = 0; i < tokens_.size(); ++i) {
        const AddedToken& token = tokens_[i];
        (token.normalized ? normalized_tokens_ : raw_tokens_).push_back(i);
        if (token.normalized) normalized.push_back(normalize(normalizer, token.content));
        (token.normalized ? unnormalized : raw).push_back(token.content);
    }
    raw_patterns_ = PatternSet(raw);
    normalized_patterns_ = PatternSet(normalized);
    unnormalized_patterns_ = PatternSet(unnormalized);
}

std::vector<AddedTokenSplitter::Found> AddedTokenSplitter::find(std::string_view text,
                                                                const PatternSet& patterns,
                                                                const std::vector<size_t>& tokens,
                                                                bool parse_special,
                                                                const ForeignText& foreign) const {
    std::vector<Found> found;
    size_t covered = 0;  // up to here the text belongs to earlier tokens
    for (size_t at = 0; at < text.size();) {
        auto match = patterns.longest_prefix(text.substr(at));
        if (match && is_control_token(tokens_[tokens[match->pattern]], foreign) &&
            foreign_within(foreign.ranges, {at, at + match->size})) {
            const size_t own = end_of_own(foreign.ranges, at) - at;
            if (own == 0 && is_foreign(foreign.ranges, {at, at + match->size}) && parse_special) {
                found.push_back({&tokens_[tokens[match->pattern]], {at, at + match->size}, true});
                covered = at += match->size;
                continue;
            }
            match = patterns.longest_prefix(text.substr(at, own));
        }
        if (!match || tokens_[tokens[match->pattern]].in_model) {
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

/// Normalising moves bytes, so ranges of the raw text do not apply to the normalised one. The n-th special
/// token of one text is that of the other, as long as both have the same ones; otherwise all of them are text
/// if a part is foreign.
std::vector<AddedTokenSplitter::Found> AddedTokenSplitter::find_normalized(std::string_view raw,
                                                                           std::string_view normalized,
                                                                           bool parse_special,
                                                                           const ForeignText& foreign) const {
    std::vector<Found> found = find(normalized, normalized_patterns_, normalized_tokens_, parse_special, {});
    if (foreign.ranges.empty()) return found;
    const auto controls = [&](const std::vector<Found>& all) {
        std::vector<TokenId> ids;
        for (const Found& each : all)
            if (is_control_token(*each.token, foreign)) ids.push_back(each.token->id);
        return ids;
    };
    const std::vector<Found> spelled =
        find(raw, unnormalized_patterns_, normalized_tokens_, parse_special, {});
    const bool correspond = controls(found) == controls(spelled);
    auto next = spelled.begin();
    for (Found& each : found) {
        if (!is_control_token(*each.token, foreign)) continue;
        each.is_masked = true;
        if (!correspond) continue;
        next = std::find_if(next, spelled.end(),
                            [&](const Found& other) { return is_control_token(*other.token, foreign); });
        each.is_masked = foreign_within(foreign.ranges, (next++)->range);
    }
    return found;
}

std::vector<TextSection> AddedTokenSplitter::split(std::string_view text,
                                                   std::span<const NormalizerStep> normalizer,
                                                   bool parse_special, const ForeignText& foreign) const {
    std::vector<TextSection> sections;
    bool continues = false;  // behind a masked token
    // Divides `whole` at `found` and appends the sections; `between` is called for the texts.
    const auto divide = [&](std::string_view whole, const std::vector<Found>& found, auto masked,
                            auto between) {
        size_t covered = 0;
        for (const Found& item : found) {
            if (covered < item.range.begin) between(TextRange{covered, item.range.begin}, covered == 0);
            const std::string_view spelled = whole.substr(item.range.begin, item.range.size());
            if (item.is_masked)
                masked(item.token->id, spelled);
            else
                sections.push_back({.token = item.token->id, .text = std::string(spelled)});
            continues = item.is_masked;
            covered = item.range.end;
        }
        if (covered < whole.size()) between(TextRange{covered, whole.size()}, covered == 0);
    };
    const auto continuing = [&](std::string_view raw) {
        return TextSection{.text = normalize(normalizer, kInFront + std::string(raw)),
                           .continues = true,
                           .alone = normalize(normalizer, raw)};
    };
    const auto raw_masked = [&](TokenId id, std::string_view spelled) {
        sections.push_back(continuing(spelled));
        sections.back().masked = id;
    };
    const auto normalized_masked = [&](TokenId id, std::string_view spelled) {
        sections.push_back({.text = std::string(spelled), .masked = id});
    };
    divide(text, find(text, raw_patterns_, raw_tokens_, parse_special, foreign), raw_masked,
           [&](TextRange part, bool first) {
               const std::string_view raw = text.substr(part.begin, part.size());
               const bool goes_on = std::exchange(continues, false);
               const NormalizedText begun =
                   first ? normalize_from_start(normalizer, raw) : NormalizedText{normalize(normalizer, raw)};
               const std::string& normalized = begun.text;
               const std::vector<TextRange> inside = within(foreign.ranges, part);
               const std::vector<Found> found =
                   find_normalized(raw, normalized, parse_special, {inside, foreign.control});
               if (goes_on && found.empty()) {
                   sections.push_back(continuing(raw));
                   return;
               }
               divide(normalized, found, normalized_masked, [&](TextRange rest, bool also_first) {
                   sections.push_back({.text = normalized.substr(rest.begin, rest.size()),
                                       .at_start = first && also_first && begun.begins});
               });
           });
    return sections;
}

}  // namespace tessera::llm
