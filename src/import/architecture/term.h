#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Expressions of an architecture's text (docs/architectures.md). They are spelled as those of operators,
/// with texts, lists and options of calls besides. Trees are immutable and shared.
namespace tessera::import {

struct Term;
using TermPtr = std::shared_ptr<const Term>;

struct Term {
    enum class Kind : uint8_t {
        kNumber,
        kText,
        kList,
        kName,     ///< of a setting, a tensor or a value; also null, true, false, stored and inf
        kCall,     ///< of a function or an operator: "sqrt", "+", "negate"
        kElement,  ///< NAME[..]
    };
    Kind kind = Kind::kNumber;
    double number = 0;
    bool is_integer = false;  ///< of a number: written without a fraction
    std::string name;         ///< the text itself of a text
    std::vector<TermPtr> arguments;
    std::vector<std::pair<std::string, TermPtr>> options;  ///< in the order of their names

    /// Null if the call has no such option.
    TermPtr option(std::string_view option_name) const;
    bool is_name(std::string_view other) const { return kind == Kind::kName && name == other; }
    bool is_call(std::string_view function) const { return kind == Kind::kCall && name == function; }
};

TermPtr number_term(double value, bool is_integer);
TermPtr text_term(std::string text);
TermPtr list_term(std::vector<TermPtr> elements);
TermPtr name_term(std::string name);
/// The negative of a number is a number: `-1` has one form only.
TermPtr call_term(std::string function, std::vector<TermPtr> arguments,
                  std::vector<std::pair<std::string, TermPtr>> options = {});
TermPtr element_term(std::string name, std::vector<TermPtr> indices);

/// As the parser reads it: parse(print(t)) equals t.
std::string print(const TermPtr& term);
bool same(const TermPtr& a, const TermPtr& b);

/// Calls `visit` for every term, parents first.
template <typename Visit>
void walk(const TermPtr& term, Visit&& visit) {
    if (!term) return;
    visit(*term);
    for (const TermPtr& argument : term->arguments) walk(argument, visit);
    for (const auto& [name, value] : term->options) walk(value, visit);
}

}  // namespace tessera::import
