#include "backend/index_text.h"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace tessera::backend {

std::string identifier(const std::string& name) {
    std::string text = name;
    std::ranges::replace(text, '.', '_');
    return text;
}

namespace {

using AtomKind = movement::Index::AtomKind;

std::string atom_text(const movement::Index::Atom& atom, const IndexForms& forms) {
    const auto argument = [&](size_t i) { return text_of(atom.arguments[i], forms); };
    const auto rounded_down = [&](const char* infix, const char* function) {
        return atom.arguments[0].bounds().low >= 0
                   ? fmt::format("({}) {} {}", argument(0), infix, atom.modulus)
                   : fmt::format("{}({}, {})", function, argument(0), atom.modulus);
    };
    switch (atom.kind) {
        case AtomKind::kVariable:
            return identifier(atom.variable.name);
        case AtomKind::kRead:
            return fmt::format("{}{}[{}]{}", forms.before_element, atom.buffer, argument(0),
                               forms.after_element);
        case AtomKind::kFloorDiv:
            return rounded_down("/", forms.floor_div);
        case AtomKind::kMod:
            return rounded_down("%", forms.floor_mod);
        case AtomKind::kProduct: {
            const auto [first, second] = std::minmax({argument(0), argument(1)});
            return fmt::format("({}) * ({})", first, second);
        }
        case AtomKind::kMin:
            return fmt::format("{}({}, {})", forms.minimum, argument(0), argument(1));
        case AtomKind::kMax:
            return fmt::format("{}({}, {})", forms.maximum, argument(0), argument(1));
    }
    return {};
}

}  // namespace

std::string text_of(const movement::Index& index, const IndexForms& forms) {
    // The text follows the names of the variables, not how the normal form sorts.
    std::vector<std::pair<std::string, const movement::Index::Term*>> terms;
    for (const movement::Index::Term& term : index.terms())
        terms.emplace_back(atom_text(*term.atom, forms), &term);
    std::ranges::sort(terms);
    std::string out;
    for (const auto& [atom, term] : terms) {
        const bool is_negative = term->coefficient < 0;
        const int64_t size = std::abs(term->coefficient);
        out += out.empty() ? (is_negative ? "-" : "") : (is_negative ? " - " : " + ");
        const bool is_compound =
            term->atom->kind == AtomKind::kFloorDiv || term->atom->kind == AtomKind::kMod;
        if (size == 1) {
            out += atom;
        } else {
            out += is_compound ? fmt::format("({}) * {}", atom, size) : fmt::format("{} * {}", atom, size);
        }
    }
    if (out.empty()) return fmt::format("{}", index.constant());
    if (index.constant() != 0)
        out += index.constant() < 0 ? fmt::format(" - {}", -index.constant())
                                    : fmt::format(" + {}", index.constant());
    return out;
}

}  // namespace tessera::backend
