#include "run/jinja/text_operations.h"

#include <algorithm>

#include <fmt/format.h>
#include <utf8proc.h>

#include "run/jinja/special_casing.h"

namespace tessera::jinja {
namespace {

void append_code_point(Text& text, int code_point, Origin origin) {
    utf8proc_uint8_t bytes[4];
    const auto size = utf8proc_encode_char(code_point, bytes);
    text.append({reinterpret_cast<const char*>(bytes), static_cast<size_t>(size)}, origin);
}

bool has_case(int code_point) {
    return code_point >= 0 &&
           (utf8proc_toupper(code_point) != code_point || utf8proc_tolower(code_point) != code_point);
}

constexpr int kSigma = 0x3a3;
constexpr int kFinalSigma = 0x3c2;
constexpr int kDottedI = 0x130;

/// True if a letter with case precedes this place, and none follows the character there. Marks between do not
/// count. Source: Unicode, 3.13, condition Final_Sigma.
bool ends_word(std::string_view bytes, size_t at) {
    const auto is_mark = [](int code_point) {
        const auto category = utf8proc_category(code_point);
        return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_ME ||
               category == UTF8PROC_CATEGORY_CF || category == UTF8PROC_CATEGORY_LM ||
               category == UTF8PROC_CATEGORY_SK || code_point == '\'' || code_point == '.' ||
               code_point == ':';
    };
    bool has_before = false;
    for (size_t i = at; i > 0;) {
        do --i;
        while (i > 0 && (static_cast<unsigned char>(bytes[i]) & 0xc0) == 0x80);
        const int before = first_character(bytes.substr(i)).code_point;
        if (before >= 0 && is_mark(before)) continue;
        has_before = has_case(before);
        break;
    }
    if (!has_before) return false;
    for (size_t i = at + 2; i < bytes.size();) {
        const Character after = first_character(bytes.substr(i));
        if (after.code_point < 0 || !is_mark(after.code_point)) return !has_case(after.code_point);
        i += after.size;
    }
    return true;
}

/// An empty separator would cut everywhere.
void refuse_empty(Context& context, const std::optional<Text>& separator) {
    if (separator && separator->empty()) context.fail("the separator is empty");
}

std::vector<Text> counted(Context& context, std::vector<Text> parts) {
    size_t bytes = 0;
    for (const Text& part : parts) bytes += part.size() + sizeof(Text) + kValueBytes;
    context.allocate(bytes);
    return parts;
}

/// The size in bytes of a line end of `str.splitlines` here; 0 if there is none.
size_t line_end(std::string_view bytes) {
    if (bytes.starts_with("\r\n")) return 2;
    const Character next = first_character(bytes);
    const int c = next.code_point;
    const bool ends =
        (c >= 0x0a && c <= 0x0d) || (c >= 0x1c && c <= 0x1e) || c == 0x85 || c == 0x2028 || c == 0x2029;
    return ends ? next.size : 0;
}

}  // namespace

Text with_case(Context& context, const Text& text, Case wanted) {
    context.step(static_cast<int64_t>(text.size() / 16));
    Text result;
    const bool is_upper = wanted == Case::kUpper || wanted == Case::kUpperFirst;
    bool in_word = false;
    bool is_first = true;
    const std::string_view bytes = text.bytes();
    for (size_t at = 0; at < bytes.size();) {
        const Character next = first_character(bytes.substr(at));
        const bool raises = wanted == Case::kUpper || (wanted == Case::kTitle && !in_word) ||
                            ((wanted == Case::kCapitalize || wanted == Case::kUpperFirst) && is_first);
        const std::string_view special = raises ? special_case(next.code_point, !is_upper) : "";
        if (next.code_point < 0)
            result.append(bytes.substr(at, 1), text.origin_at(at));
        else if (!special.empty())
            result.append(special, text.origin_at(at));
        else if (!raises && next.code_point == kSigma && ends_word(bytes, at))
            append_code_point(result, kFinalSigma, text.origin_at(at));
        else if (!raises && next.code_point == kDottedI)
            result.append("i\u0307", text.origin_at(at));
        else
            append_code_point(result,
                              !raises    ? utf8proc_tolower(next.code_point)
                              : is_upper ? utf8proc_toupper(next.code_point)
                                         : utf8proc_totitle(next.code_point),
                              text.origin_at(at));
        in_word = has_case(next.code_point);
        is_first = false;
        at += next.size;
    }
    return result;
}

bool is_cased(Context& context, const Text& text, bool upper) {
    context.step(static_cast<int64_t>(text.size() / 16));
    bool has_some = false;
    const std::string_view bytes = text.bytes();
    for (size_t at = 0; at < bytes.size();) {
        const Character next = first_character(bytes.substr(at));
        at += next.size;
        if (!has_case(next.code_point)) continue;
        const int same = upper ? utf8proc_toupper(next.code_point) : utf8proc_tolower(next.code_point);
        if (same != next.code_point) return false;
        has_some = true;
    }
    return has_some;
}

Text title_of_words(Context& context, const Text& text) {
    Text result;
    const std::string_view bytes = text.bytes();
    const auto begins_word = [&](size_t at) {
        const Character next = first_character(bytes.substr(at));
        return is_space(next.code_point) ||
               (next.code_point > 0 && next.code_point < 0x80 &&
                std::string_view("-([{<").find(static_cast<char>(next.code_point)) != std::string_view::npos);
    };
    size_t begin = 0;
    for (size_t at = 0; at < bytes.size();) {
        const size_t size = first_character(bytes.substr(at)).size;
        if (begins_word(at)) {
            result.append(with_case(context, text.slice(begin, at), Case::kUpperFirst));
            result.append(text.slice(at, at + size));
            begin = at + size;
        }
        at += size;
    }
    return result.append(with_case(context, text.slice(begin, text.size()), Case::kUpperFirst));
}

Text stripped(Context& context, const Text& text, Ends ends, const std::optional<Text>& characters) {
    context.step(static_cast<int64_t>(text.size() / 64));
    const std::string_view whole = text.bytes();
    size_t begin = 0;
    size_t end = whole.size();
    if (!characters) {
        if (ends != Ends::kRight) begin = end - trim_left(whole).size();
        if (ends != Ends::kLeft) end = begin + trim_right(whole.substr(begin)).size();
        return text.slice(begin, end);
    }
    const std::vector<size_t> set = character_offsets(characters->bytes());
    const std::vector<size_t> offsets = character_offsets(whole);
    size_t first = 0;
    size_t last = offsets.size() - 1;
    const auto is_removed = [&](size_t i) {
        context.step(static_cast<int64_t>(set.size() / 4));
        const std::string_view character = whole.substr(offsets[i], offsets[i + 1] - offsets[i]);
        for (size_t k = 0; k + 1 < set.size(); ++k)
            if (std::string_view(characters->bytes()).substr(set[k], set[k + 1] - set[k]) == character)
                return true;
        return false;
    };
    while (ends != Ends::kRight && first < last && is_removed(first)) ++first;
    while (ends != Ends::kLeft && last > first && is_removed(last - 1)) --last;
    return text.slice(offsets[first], offsets[last]);
}

Text replaced(Context& context, const Text& text, const Text& from, const Text& to, int64_t count) {
    const std::string& bytes = text.bytes();
    context.step(static_cast<int64_t>(bytes.size() / 16));
    Text result;
    size_t done = 0;
    if (from.empty()) {
        // Before every character, and behind the last one.
        for (const size_t at : character_offsets(bytes)) {
            if (count-- == 0) break;
            context.allocate(to.size());
            result.append(text.slice(done, at)).append(to);
            done = at;
        }
        return result.append(text.slice(done, bytes.size()));
    }
    for (size_t at = bytes.find(from.bytes()); at != std::string::npos && count-- != 0;
         at = bytes.find(from.bytes(), done)) {
        context.allocate(to.size() + 1);
        result.append(text.slice(done, at)).append(to);
        done = at + from.size();
    }
    return result.append(text.slice(done, bytes.size()));
}

std::vector<Text> split(Context& context, const Text& text, const std::optional<Text>& separator,
                        int64_t most) {
    refuse_empty(context, separator);
    const std::string& bytes = text.bytes();
    std::vector<Text> parts;
    if (separator) {
        size_t begin = 0;
        for (size_t at = bytes.find(separator->bytes()); at != std::string::npos && most-- != 0;
             at = bytes.find(separator->bytes(), begin)) {
            parts.push_back(text.slice(begin, at));
            begin = at + separator->size();
        }
        parts.push_back(text.slice(begin, bytes.size()));
        return counted(context, std::move(parts));
    }
    for (std::string_view rest = trim_left(bytes); !rest.empty(); rest = trim_left(rest)) {
        const size_t begin = bytes.size() - rest.size();
        if (most-- == 0) {
            parts.push_back(text.slice(begin, begin + trim_right(rest).size()));
            break;
        }
        size_t size = 0;
        while (size < rest.size()) {
            const Character next = first_character(rest.substr(size));
            if (is_space(next.code_point)) break;
            size += next.size;
        }
        parts.push_back(text.slice(begin, begin + size));
        rest.remove_prefix(size);
    }
    return counted(context, std::move(parts));
}

std::vector<Text> split_from_right(Context& context, const Text& text, const std::optional<Text>& separator,
                                   int64_t most) {
    if (most < 0) return split(context, text, separator, most);
    refuse_empty(context, separator);
    if (!separator) {
        // Splitting from the left gives the same words; from the right, the first ones stay together.
        std::vector<Text> words = split(context, text, separator, -1);
        if (static_cast<int64_t>(words.size()) <= most + 1) return words;
        std::vector<Text> parts(words.end() - most, words.end());
        Text rest = stripped(context, text, Ends::kRight, std::nullopt);
        for (auto word = words.rbegin(); word != words.rbegin() + most; ++word)
            rest = stripped(context, rest.slice(0, rest.size() - word->size()), Ends::kRight, std::nullopt);
        parts.insert(parts.begin(), std::move(rest));
        return counted(context, std::move(parts));
    }
    std::vector<Text> parts;
    size_t end = text.size();
    while (most-- != 0) {
        const size_t at = end < separator->size()
                              ? std::string::npos
                              : text.bytes().rfind(separator->bytes(), end - separator->size());
        if (at == std::string::npos) break;
        parts.push_back(text.slice(at + separator->size(), end));
        end = at;
    }
    parts.push_back(text.slice(0, end));
    std::reverse(parts.begin(), parts.end());
    return counted(context, std::move(parts));
}

std::vector<Text> split_lines(Context& context, const Text& text, bool keeps_ends) {
    std::vector<Text> lines;
    const std::string_view bytes = text.bytes();
    size_t begin = 0;
    for (size_t at = 0; at < bytes.size();) {
        const size_t end = line_end(bytes.substr(at));
        if (end == 0) {
            at += first_character(bytes.substr(at)).size;
            continue;
        }
        lines.push_back(text.slice(begin, keeps_ends ? at + end : at));
        begin = at += end;
    }
    if (begin < bytes.size()) lines.push_back(text.slice(begin, bytes.size()));
    return counted(context, std::move(lines));
}

Text justified(Context& context, const Text& text, int64_t width, const Text& fill, Ends where) {
    const int64_t missing = width - count_characters(text.bytes());
    if (count_characters(fill.bytes()) != 1) context.fail("a text is filled up with one character");
    if (missing <= 0) return text;
    context.allocate(static_cast<size_t>(std::min<int64_t>(missing, int64_t{1} << 40)) * fill.size());
    // Python's `center` adds the odd one on the left if the width is odd as well.
    const int64_t left = where == Ends::kRight  ? missing
                         : where == Ends::kLeft ? 0
                                                : missing / 2 + (missing & width & 1);
    Text result;
    for (int64_t i = 0; i < left; ++i) result.append(fill);
    result.append(text);
    for (int64_t i = left; i < missing; ++i) result.append(fill);
    return result;
}

int64_t count_characters(std::string_view bytes) {
    return static_cast<int64_t>(character_offsets(bytes).size()) - 1;
}

}  // namespace tessera::jinja
