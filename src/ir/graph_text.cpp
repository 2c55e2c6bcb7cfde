#include "ir/graph_text.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include <fmt/core.h>

#include "ir/characters.h"

namespace tessera {
namespace {

constexpr int64_t kMostInSeries = 1 << 16;

/// The run of digits that begins at `at`, as a number without leading zeros.
std::optional<int64_t> number_at(std::string_view text, size_t at, size_t& end) {
    end = at;
    while (end < text.size() && is_digit(text[end])) ++end;
    int64_t value = 0;
    const auto [stop, error] = std::from_chars(text.data() + at, text.data() + end, value);
    if (error != std::errc() || stop != text.data() + end || (end - at > 1 && text[at] == '0'))
        return std::nullopt;
    return value;
}

}  // namespace

std::string quoted(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\')
            result += {'\\', c};
        else if (c == '\n')
            result += "\\n";
        else if (byte < 0x20 || byte == 0x7F)
            result += fmt::format("\\x{:02x}", byte);
        else
            result += c;
    }
    return result + "\"";
}

std::optional<std::vector<std::string>> expand(const NameSeries& series) {
    const size_t star = series.pattern.find('*');
    if (star == std::string::npos || series.pattern.find('*', star + 1) != std::string::npos)
        return std::nullopt;
    if (series.step < 1 || series.first < 0 || series.last < series.first) return std::nullopt;
    if ((series.last - series.first) / series.step >= kMostInSeries) return std::nullopt;
    std::vector<std::string> names;
    for (int64_t i = series.first; i <= series.last; i += series.step)
        names.push_back(series.pattern.substr(0, star) + std::to_string(i) + series.pattern.substr(star + 1));
    return names;
}

std::optional<NameSeries> series_of(const std::vector<std::string>& names) {
    if (names.size() < 2) return std::nullopt;
    const std::string& first = names[0];
    const std::string& second = names[1];
    // The number begins at or before the first character in which two neighbours differ.
    size_t begin = static_cast<size_t>(
        std::mismatch(first.begin(), first.end(), second.begin(), second.end()).first - first.begin());
    while (begin > 0 && is_digit(first[begin - 1])) --begin;
    size_t first_end = 0, second_end = 0;
    const auto low = number_at(first, begin, first_end);
    const auto next = number_at(second, begin, second_end);
    if (!low || !next || *next <= *low) return std::nullopt;
    const int64_t step = *next - *low;
    if (step > INT32_MAX || *low > INT32_MAX) return std::nullopt;
    NameSeries series{.pattern = first.substr(0, begin) + "*" + first.substr(first_end),
                      .first = *low,
                      .last = *low + step * (std::ssize(names) - 1),
                      .step = step};
    return expand(series) == names ? std::optional(series) : std::nullopt;
}

}  // namespace tessera
