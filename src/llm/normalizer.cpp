#include "llm/normalizer.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>

#include <utf8proc.h>

#include "llm/utf8.h"
#include "support/error.h"

namespace tessera::llm {
namespace {

// NFKC makes U+FDFA eleven times as long, and no character more. Steps in a file add a few bytes to that.
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
        // The only character whose lower case is two by itself.
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
    return text.empty() ? std::string() : prepend.text + std::string(text);
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

struct ApplyNormalizer {
    std::string_view text;

    std::string operator()(const Prepend& step) const { return apply(step, text); }
    std::string operator()(const StripSpace& step) const { return apply(step, text); }
    std::string operator()(const auto& step) const { return apply_to_valid_runs(step, text); }
};

}  // namespace

std::string normalize(std::span<const NormalizerStep> steps, std::string_view text) {
    const size_t longest = kMostGrowth * text.size() + kSlackBytes;
    std::string result(text);
    for (const NormalizerStep& step : steps) {
        result = std::visit(ApplyNormalizer{result}, step);
        if (result.size() > longest)
            throw Error("tokenizer", "normalizer",
                        fmt::format("makes a text of {} bytes longer than {}", text.size(), longest),
                        "its replacements grow without end: the tokenizer is damaged");
    }
    return result;
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
