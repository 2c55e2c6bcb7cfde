#include "import/onnx/linear_form.h"

#include <algorithm>

#include <fmt/format.h>

#include "ir/checked_arithmetic.h"

namespace tessera::import::onnx {
namespace {

std::string spelled(const LinearForm& form, const char* mark) {
    std::string text;
    for (const auto& [symbol, factor] : form.terms)
        text += fmt::format("{}{}{}{}", text.empty() ? "" : " + ",
                            factor == 1 ? "" : fmt::format("{} * ", factor), mark, symbol);
    if (text.empty()) return fmt::to_string(form.constant);
    if (form.constant != 0) text += fmt::format(" + {}", form.constant);
    return text;
}

}  // namespace

LinearForm linear_form(const Dim& dim) {
    if (dim.is_constant() || dim.factor == 0) return {.constant = dim.factor, .terms = {}};
    return {.constant = 0, .terms = {{*dim.symbol, dim.factor}}};
}

std::optional<Dim> dim_of(const LinearForm& form) {
    if (form.is_constant()) return form.constant < 0 ? std::nullopt : std::optional<Dim>(form.constant);
    const auto& [symbol, factor] = *form.terms.begin();
    if (form.constant != 0 || form.terms.size() > 1 || factor < 0) return std::nullopt;
    return Dim(symbol, factor);
}

std::string print(const LinearForm& form) {
    return spelled(form, "");
}

std::string form_text(const LinearForm& form) {
    return spelled(form, "$");
}

LinearForm sum(const LinearForm& a, const LinearForm& b, int64_t factor) {
    LinearForm form = a;
    form.constant = checked_add(a.constant, checked_mul(factor, b.constant, ""), "");
    for (const auto& [symbol, coefficient] : b.terms) {
        int64_t& own = form.terms[symbol];
        own = checked_add(own, checked_mul(factor, coefficient, ""), "");
        if (own == 0) form.terms.erase(symbol);
    }
    return form;
}

std::optional<LinearForm> product(const LinearForm& a, const LinearForm& b) {
    if (b.is_constant()) return sum({}, a, b.constant);
    if (a.is_constant()) return sum({}, b, a.constant);
    return std::nullopt;
}

IntegerInterval range(const LinearForm& form, std::span<const DimSymbol> symbols) {
    IntegerInterval range{form.constant, form.constant};
    for (const auto& [name, factor] : form.terms) {
        const auto symbol = std::ranges::find(symbols, name, &DimSymbol::name);
        TESSERA_CHECK(symbol != symbols.end(), "{}", name);
        const int64_t low = checked_mul(factor, symbol->low, ""),
                      high = checked_mul(factor, symbol->high, "");
        range.low = checked_add(range.low, std::min(low, high), "");
        range.high = checked_add(range.high, std::max(low, high), "");
    }
    return range;
}

}  // namespace tessera::import::onnx
