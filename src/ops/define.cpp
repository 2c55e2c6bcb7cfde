#include "ops/define.h"

#include <algorithm>
#include <cctype>
#include <memory>

#include <fmt/core.h>

#include "support/error.h"

namespace tessera::ops {
namespace {

bool is_name_character(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

bool names(std::string_view all, std::string_view symbol) {
    for (size_t at = all.find(symbol); at != std::string_view::npos; at = all.find(symbol, at + 1)) {
        const size_t end = at + symbol.size();
        if ((at == 0 || !is_name_character(all[at - 1])) &&
            (end == all.size() || !is_name_character(all[end])))
            return true;
    }
    return false;
}

}  // namespace

std::string text(const Dim& extent) {
    if (extent.is_constant()) return std::to_string(extent.factor);
    return extent.factor == 1 ? *extent.symbol : fmt::format("{} * {}", extent.factor, *extent.symbol);
}

DefinitionPtr define(Symbols symbols, std::string_view operator_text) {
    std::string dims;
    for (const DimSymbol& symbol : symbols) {
        if (!names(operator_text, symbol.name)) continue;
        dims +=
            fmt::format("{} {} in {}..{}", dims.empty() ? "dim" : ",", symbol.name, symbol.low, symbol.high);
        if (symbol.multiple_of != 1) dims += fmt::format(" multiple of {}", symbol.multiple_of);
    }
    const size_t head = operator_text.find('\n');
    TESSERA_CHECK(head != std::string_view::npos, "{}", operator_text);
    const std::string all =
        fmt::format("{}\n{}{}", operator_text.substr(0, head), dims, operator_text.substr(head));
    return std::make_shared<const Definition>(parse_definition(all, "src/ops"));
}

}  // namespace tessera::ops
