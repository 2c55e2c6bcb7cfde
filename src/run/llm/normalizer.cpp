#include "run/llm/normalizer.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>

#include <utf8proc.h>

#include "run/llm/byte_alphabet.h"
#include "run/llm/map_characters.h"
#include "run/llm/normalize_pieces.h"
#include "run/llm/utf8.h"
#include "support/error.h"

namespace tessera::llm {
namespace {

// NFKC makes U+FDFA eleven times as long, the most of all. Steps in a file add a few bytes to that.
constexpr size_t kMostGrowth = 16;
constexpr size_t kSlackBytes = 16384;

bool is_ascii(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

utf8proc_option_t options_of(UnicodeForm form) {
    const auto combine = [](auto... flags) { return static_cast<utf8proc_option_t>((flags | ...)); };
    switch (form) {
        case UnicodeForm::kNfc:
            return combine(UTF8PROC_STABLE, UTF8PROC_COMPOSE);
        case UnicodeForm::kNfd:
            return combine(UTF8PROC_STABLE, UTF8PROC_DECOMPOSE);
        case UnicodeForm::kNfkc:
            return combine(UTF8PROC_STABLE, UTF8PROC_COMPOSE, UTF8PROC_COMPAT);
        case UnicodeForm::kNfkd:
            return combine(UTF8PROC_STABLE, UTF8PROC_DECOMPOSE, UTF8PROC_COMPAT);
    }
    TESSERA_CHECK(false, "form {}", static_cast<int>(form));
    return UTF8PROC_STABLE;
}

std::string apply(UnicodeForm form, std::string_view text) {
    if (is_ascii(text)) return std::string(text);
    utf8proc_uint8_t* mapped = nullptr;
    const utf8proc_ssize_t size =
        utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                     static_cast<utf8proc_ssize_t>(text.size()), &mapped, options_of(form));
    const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(mapped, &std::free);
    if (size == UTF8PROC_ERROR_NOMEM) throw std::bad_alloc();
    TESSERA_CHECK(size >= 0, "utf8proc: {}", utf8proc_errmsg(size));
    return {reinterpret_cast<const char*>(mapped), static_cast<size_t>(size)};
}

std::string apply(const Lowercase&, std::string_view text) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const Utf8Step step = first_character(text);
        text.remove_prefix(step.length);
        // The only character with two in its lower case.
        if (step.code_point == 0x130)
            out += "i\u0307";
        else
            append_utf8(
                out, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(step.code_point))));
    }
    return out;
}

std::string apply(const ReplaceText& replace, std::string_view text) {
    return replace_all(text, replace.from, replace.to);
}

std::string apply(const ReplacePattern& replace, std::string_view text) {
    std::string out;
    size_t copied = 0;
    for (const TextRange& match : replace.from.find_all(text)) {
        out += text.substr(copied, match.begin - copied);
        out += replace.to;
        copied = match.end;
    }
    out += text.substr(copied);
    return out;
}

std::string apply(const MapCharacters& map, std::string_view text) {
    return map.function(text);
}

std::string apply(const RemoveMarks& remove, std::string_view text) {
    return remove_marks(text, remove.only_nonspacing);
}

/// The end of the first grapheme cluster: Unicode Standard Annex 29.
size_t first_cluster(std::string_view text) {
    utf8proc_int32_t state = 0;
    Utf8Step step = first_character(text);
    size_t end = step.length;
    while (end < text.size()) {
        const Utf8Step next = first_character(text.substr(end));
        if (utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(step.code_point),
                                             static_cast<utf8proc_int32_t>(next.code_point), &state))
            break;
        end += next.length;
        step = next;
    }
    return end;
}

std::string apply(const ReplaceClusters& replace, std::string_view text) {
    constexpr size_t kLongestReplaced = 5;
    std::string out;
    while (!text.empty()) {
        std::string_view cluster = text.substr(0, first_cluster(text));
        text.remove_prefix(cluster.size());
        if (cluster.size() <= kLongestReplaced)
            if (const auto match = replace.map.shortest(cluster)) {
                out += match->replacement;
                continue;
            }
        while (!cluster.empty()) {
            const std::string_view character = cluster.substr(0, first_character(cluster).length);
            cluster.remove_prefix(character.size());
            const auto match = replace.map.shortest(character);
            out += match ? match->replacement : character;
        }
    }
    return out;
}

template <typename Step>
std::string apply_to_valid_runs(const Step& step, std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const Utf8Run run = first_run(text);
        text.remove_prefix(run.text.size());
        out += run.valid ? apply(step, run.text) : std::string(run.text);
    }
    return out;
}

std::string apply(const Prepend& prepend, std::string_view text) {
    return text.empty() && !prepend.to_empty ? std::string() : prepend.text + std::string(text);
}

std::string apply(const StripSpace& strip, std::string_view text) {
    size_t begin = text.size();
    size_t end = 0;
    for (size_t at = 0; at < text.size();) {
        const Utf8Step step = first_character(text.substr(at));
        if (!is_white_space(step.code_point)) {
            begin = std::min(begin, at);
            end = at + step.length;
        }
        at += step.length;
    }
    if (!strip.left) begin = 0;
    if (!strip.right) end = text.size();
    return std::string(text.substr(std::min(begin, end), end - std::min(begin, end)));
}

std::string apply(const WriteByteAlphabet&, std::string_view text) {
    std::string out;
    append_alphabet(out, text);
    return out;
}

struct ApplyNormalizer {
    std::string_view text;
    bool at_start = false;

    std::string operator()(const WriteByteAlphabet& step) const { return apply(step, text); }
    std::string operator()(const Prepend& step) const { return apply(step, text); }
    std::string operator()(const StripSpace& step) const { return apply(step, text); }
    std::string operator()(const NormalizeSentencePiece& step) const {
        return normalize_pieces(step, text, at_start);
    }
    std::string operator()(const auto& step) const { return apply_to_valid_runs(step, text); }
};

/// Applies a step to the first character of a text, or to what earlier steps have made of it. The replacement
/// of several characters stands for the last of them, as in the `tokenizers` library.
struct FollowStart {
    std::string_view text;
    std::string_view start;  ///< begins the text, and is not empty

    std::string operator()(const ReplaceText& step) const {
        if (text.starts_with(step.from) && step.from.size() > start.size()) return {};
        return apply(step, start);
    }
    std::string operator()(const ReplacePattern& step) const {
        const Utf8Run run = first_run(text);
        if (!run.valid) return std::string(start);
        for (const TextRange& match : step.from.find_all(run.text))
            if (match.begin == 0 && match.end > start.size()) return {};
        return apply_to_valid_runs(step, start);
    }
    /// Removal at the end does not affect the beginning.
    std::string operator()(const StripSpace& step) const {
        const StripSpace left{.left = step.left, .right = false};
        return apply(left, start);
    }
    /// A cluster that is mapped to nothing leaves its place to the next one.
    std::string operator()(const ReplaceClusters&) const { return std::string(start); }
    std::string operator()(const auto& step) const { return ApplyNormalizer{start}(step); }
};

std::string_view first_letter(std::string_view text) {
    return text.empty() ? text : text.substr(0, first_character(text).length);
}

NormalizedText normalize(std::span<const NormalizerStep> steps, std::string_view text, bool watches_start) {
    const size_t longest = kMostGrowth * text.size() + kSlackBytes;
    NormalizedText result{std::string(text)};
    std::string start(watches_start ? first_letter(text) : "");
    for (const NormalizerStep& step : steps) {
        if (result.text.empty()) start.clear();
        if (!start.empty()) start = std::visit(FollowStart{result.text, start}, step);
        result.text = std::visit(ApplyNormalizer{result.text, watches_start}, step);
        if (result.text.size() > longest)
            throw Error("tokenizer", "normalizer",
                        fmt::format("makes a text of {} bytes longer than {}", text.size(), longest),
                        "its replacements grow without end: the tokenizer is damaged");
    }
    result.begins = !start.empty();
    return result;
}

}  // namespace

std::string normalize(std::span<const NormalizerStep> steps, std::string_view text) {
    return normalize(steps, text, false).text;
}

NormalizedText normalize_from_start(std::span<const NormalizerStep> steps, std::string_view text) {
    return normalize(steps, text, true);
}

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
    std::string out;
    out.reserve(text.size());
    for (size_t found = text.find(from); found != std::string_view::npos; found = text.find(from)) {
        out += text.substr(0, found);
        out += to;
        text.remove_prefix(found + from.size());
    }
    out += text;
    return out;
}

}  // namespace tessera::llm
