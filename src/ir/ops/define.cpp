#include "ir/ops/define.h"

#include <algorithm>
#include <memory>
#include <set>
#include <vector>

#include <fmt/core.h>

#include "ir/characters.h"
#include "support/error.h"

namespace tessera::ops {
namespace {

/// In front of a symbol that `text` has written: no name holds it, so no iterator or tensor of an operator
/// meets a symbol, whatever the graph calls them.
constexpr char kSymbolMark = '$';

struct Word {
    std::string_view text;
    bool is_name = false;
    bool is_marked = false;
};

/// Names, and what stands between them; the marks are taken out.
std::vector<Word> words_of(std::string_view text) {
    std::vector<Word> words;
    bool is_marked = false;
    while (!text.empty()) {
        if (text.front() == kSymbolMark) {
            is_marked = true;
            text.remove_prefix(1);
            continue;
        }
        const bool is_name = starts_name(text.front());
        size_t end = 1;
        while (is_name && end < text.size() && continues_name(text[end])) ++end;
        // Digits and letters behind them are no name: 1e5.
        while (is_digit(text.front()) && end < text.size() && continues_name(text[end])) ++end;
        words.push_back({text.substr(0, end), is_name, is_marked});
        text.remove_prefix(end);
        is_marked = false;
    }
    return words;
}

}  // namespace

std::string text(const Dim& extent) {
    if (extent.is_constant()) return std::to_string(extent.factor);
    const std::string symbol = kSymbolMark + *extent.symbol;
    return extent.factor == 1 ? symbol : fmt::format("{} * {}", extent.factor, symbol);
}

DefinitionPtr define(Symbols symbols, std::string_view operator_text) {
    const std::vector<Word> words = words_of(operator_text);
    const bool has_marks = std::ranges::any_of(words, &Word::is_marked);
    std::set<std::string_view> used, taken;
    for (const Word& word : words) {
        if (!word.is_name) continue;
        taken.insert(word.text);
        const bool is_symbol = std::ranges::find(symbols, word.text, &DimSymbol::name) != symbols.end();
        if (is_symbol && (word.is_marked || !has_marks)) used.insert(word.text);
    }
    std::string dims;
    for (const DimSymbol& symbol : symbols) {
        if (!used.contains(symbol.name)) continue;
        dims +=
            fmt::format("{} {} in {}..{}", dims.empty() ? "dim" : ",", symbol.name, symbol.low, symbol.high);
        if (symbol.multiple_of != 1) dims += fmt::format(" multiple of {}", symbol.multiple_of);
    }
    std::string all;
    for (const Word& word : words) {
        all += word.text;
        if (!has_marks || !word.is_name || word.is_marked || !used.contains(word.text)) continue;
        std::string own = std::string(word.text) + '_';
        for (; taken.contains(own); own += '_') all += '_';
        all += '_';
    }
    const size_t head = all.find('\n');
    TESSERA_CHECK(head != std::string::npos, "{}", operator_text);
    return std::make_shared<const Definition>(
        parse_definition(fmt::format("{}\n{}{}", all.substr(0, head), dims, all.substr(head)), "src/ir/ops"));
}

std::string_view arithmetic_line(ElementType type) {
    if (is_read_as_f32(type)) return "";
    return is_integer(type) ? "acc i64\n" : "acc f64\n";
}

}  // namespace tessera::ops
