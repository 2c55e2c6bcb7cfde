#include "ir/text_scanner.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include <fmt/core.h>

#include "support/error.h"

namespace tessera {
namespace {

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

}  // namespace

std::string_view TextScanner::rest() {
    while (at_ < line_.size() && (line_[at_] == ' ' || line_[at_] == '\t' || line_[at_] == '\r')) ++at_;
    return line_.substr(at_);
}

bool TextScanner::at_end() {
    return rest().empty();
}

void TextScanner::fail_expecting(std::string_view expected) {
    constexpr size_t kShown = 40;
    const std::string_view found = rest();
    throw Error(where_, "",
                found.empty() ? fmt::format("ends, expected {}", expected)
                              : fmt::format("found `{}{}`, expected {}", found.substr(0, kShown),
                                            found.size() > kShown ? "..." : "", expected));
}

bool TextScanner::take(std::string_view token) {
    const std::string_view next = rest();
    if (!next.starts_with(token)) return false;
    if (is_word(token.back()) && next.size() > token.size() && is_word(next[token.size()])) return false;
    at_ += token.size();
    return true;
}

void TextScanner::expect(std::string_view token) {
    if (!take(token)) fail_expecting(fmt::format("`{}`", token));
}

void TextScanner::expect_end() {
    if (!at_end()) fail_expecting("the end of the line");
}

std::string TextScanner::name(std::string_view what) {
    const std::string_view next = rest();
    const auto end = std::find_if_not(next.begin(), next.end(), is_word);
    std::string found(next.begin(), end);
    if (found.empty() || std::isdigit(static_cast<unsigned char>(found.front()))) fail_expecting(what);
    at_ += found.size();
    return found;
}

int64_t TextScanner::integer(std::string_view what) {
    const std::string_view next = rest();
    int64_t value = 0;
    const auto [end, error] = std::from_chars(next.data(), next.data() + next.size(), value);
    constexpr int64_t kLargest = int64_t{1} << 53;
    if (error != std::errc() || value < 0 || value > kLargest) fail_expecting(what);
    at_ += static_cast<size_t>(end - next.data());
    return value;
}

double TextScanner::real(std::string_view what) {
    const std::string_view next = rest();
    double value = 0;
    const auto [end, error] = std::from_chars(next.data(), next.data() + next.size(), value);
    if (error != std::errc() || !std::isfinite(value)) fail_expecting(what);
    at_ += static_cast<size_t>(end - next.data());
    return value;
}

/// The character whose escape stands at `at`, behind a backslash; `at` moves to the last character of the
/// escape.
char TextScanner::escaped(std::string_view text, size_t& at) {
    if (text[at] == 'n') return '\n';
    if (text[at] != 'x') return text[at];
    unsigned byte = 0;
    const std::string_view digits = text.substr(at + 1, 2);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    if (error != std::errc() || digits.size() != 2 || end != digits.data() + 2)
        fail_expecting("two hexadecimal digits after \\x");
    at += 2;
    return static_cast<char>(byte);
}

std::string TextScanner::quoted(std::string_view what) {
    std::string_view next = rest();
    if (!next.starts_with('"')) fail_expecting(what);
    std::string text;
    for (size_t i = 1; i < next.size(); ++i) {
        if (next[i] == '"') {
            at_ += i + 1;
            return text;
        }
        if (next[i] != '\\')
            text += next[i];
        else if (++i < next.size())
            text += escaped(next, i);
    }
    fail_expecting("a closing quote");
}

ElementType TextScanner::element_type() {
    const std::string_view before = rest();
    const std::string found = name("an element type");
    const auto type = element_type_of(found);
    if (!type) {
        at_ = line_.size() - before.size();
        fail_expecting("an element type");
    }
    return *type;
}

Layout TextScanner::layout() {
    Layout layout;
    constexpr int64_t kMostAxes = 64;
    constexpr int64_t kLargestFactor = 4096;
    const auto axis = [&] {
        const int64_t found = integer("an axis");
        if (found >= kMostAxes)
            throw Error(where_, "", fmt::format("axis {} is more than {}", found, kMostAxes - 1));
        return static_cast<int>(found);
    };
    if (take("order")) {
        expect("[");
        do layout.order.push_back(axis());
        while (take(","));
        expect("]");
    }
    if (take("lanes")) {
        expect("<");
        do {
            const int lane = axis();
            expect(":");
            const int64_t factor = integer("the factor of a lane");
            if (factor < 1 || factor > kLargestFactor)
                throw Error(where_, "",
                            fmt::format("a lane has {} elements, expected 1 to {}", factor, kLargestFactor));
            layout.lanes.push_back({lane, factor});
        } while (take(","));
        expect(">");
    }
    return layout;
}

TensorType TextScanner::type() {
    TensorType type{.element = element_type()};
    expect("[");
    while (!take("]")) {
        if (!type.shape.empty()) expect(",");
        const std::string_view next = rest();
        if (!next.empty() && std::isdigit(static_cast<unsigned char>(next.front()))) {
            const int64_t factor = integer("an extent");
            type.shape.push_back(take("*") ? Dim(name("a symbol"), factor) : Dim(factor));
        } else {
            type.shape.push_back(Dim(name("an extent")));
        }
    }
    type.layout = layout();
    if (take("acc")) type.accumulator = element_type();
    if (take("rounded")) type.rounding = Rounding::kWeights;
    return type;
}

}  // namespace tessera
