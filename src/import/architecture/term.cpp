#include "import/architecture/term.h"

#include <algorithm>

#include <fmt/format.h>

namespace tessera::import {
namespace {

/// How tightly operators bind, loosest first, as in the notation of operators.
int binding(const Term& term) {
    if (term.kind == Term::Kind::kNumber && (term.number < 0)) return 7;
    if (term.kind != Term::Kind::kCall) return 9;
    const std::string& f = term.name;
    if (f == "or") return 1;
    if (f == "and") return 2;
    if (f == "not") return 3;
    if (f == "<" || f == "<=" || f == ">" || f == ">=" || f == "==" || f == "!=" || f == "in") return 4;
    if (f == "+" || f == "-") return 5;
    if (f == "*" || f == "/" || f == "div" || f == "mod") return 6;
    return f == "negate" ? 7 : 9;
}

std::string in_brackets(const TermPtr& term, int least) {
    return binding(*term) < least ? fmt::format("({})", print(term)) : print(term);
}

std::string arguments_text(const std::vector<TermPtr>& terms) {
    std::string all;
    for (const TermPtr& each : terms) all += (all.empty() ? "" : ", ") + print(each);
    return all;
}

std::string number_text(const Term& term) {
    std::string text = fmt::format("{}", term.number);
    if (term.is_integer) return fmt::format("{}", static_cast<int64_t>(term.number));
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return text;
}

std::string call_text(const Term& term) {
    const int own = binding(term);
    if (term.name == "not") return "not " + in_brackets(term.arguments[0], own);
    if (term.name == "negate") return "-" + in_brackets(term.arguments[0], own);
    if (own < 9) {
        // Comparisons do not chain, other operators are read from the left.
        const int left = own == 4 ? own + 1 : own;
        return fmt::format("{} {} {}", in_brackets(term.arguments[0], left), term.name,
                           in_brackets(term.arguments[1], own + 1));
    }
    std::string all = arguments_text(term.arguments);
    for (const auto& [name, value] : term.options)
        all += fmt::format("{}{}: {}", all.empty() ? "" : ", ", name, print(value));
    return fmt::format("{}({})", term.name, all);
}

}  // namespace

TermPtr Term::option(std::string_view option_name) const {
    for (const auto& [own, value] : options)
        if (own == option_name) return value;
    return nullptr;
}

TermPtr number_term(double value, bool is_integer) {
    return std::make_shared<const Term>(
        Term{.kind = Term::Kind::kNumber, .number = value, .is_integer = is_integer});
}

TermPtr text_term(std::string text) {
    return std::make_shared<const Term>(Term{.kind = Term::Kind::kText, .name = std::move(text)});
}

TermPtr list_term(std::vector<TermPtr> elements) {
    return std::make_shared<const Term>(Term{.kind = Term::Kind::kList, .arguments = std::move(elements)});
}

TermPtr name_term(std::string name) {
    return std::make_shared<const Term>(Term{.kind = Term::Kind::kName, .name = std::move(name)});
}

TermPtr call_term(std::string function, std::vector<TermPtr> arguments,
                  std::vector<std::pair<std::string, TermPtr>> options) {
    if (function == "negate" && arguments[0]->kind == Term::Kind::kNumber && arguments[0]->number > 0)
        return number_term(-arguments[0]->number, arguments[0]->is_integer);
    std::ranges::sort(options, {}, [](const auto& option) { return option.first; });
    return std::make_shared<const Term>(Term{.kind = Term::Kind::kCall,
                                             .name = std::move(function),
                                             .arguments = std::move(arguments),
                                             .options = std::move(options)});
}

TermPtr element_term(std::string name, std::vector<TermPtr> indices) {
    return std::make_shared<const Term>(
        Term{.kind = Term::Kind::kElement, .name = std::move(name), .arguments = std::move(indices)});
}

std::string print(const TermPtr& term) {
    switch (term->kind) {
        case Term::Kind::kNumber:
            return number_text(*term);
        case Term::Kind::kText:
            return fmt::format("\"{}\"", term->name);
        case Term::Kind::kList:
            // A list of one keeps its comma, which tells it from brackets.
            return fmt::format("({}{})", arguments_text(term->arguments),
                               term->arguments.size() == 1 ? "," : "");
        case Term::Kind::kName:
            return term->name;
        case Term::Kind::kElement:
            return fmt::format("{}[{}]", term->name, arguments_text(term->arguments));
        case Term::Kind::kCall:
            break;
    }
    return call_text(*term);
}

bool same(const TermPtr& a, const TermPtr& b) {
    if (!a || !b) return !a && !b;
    return print(a) == print(b);
}

}  // namespace tessera::import
