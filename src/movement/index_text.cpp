#include <algorithm>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "movement/index.h"

namespace tessera::movement {
namespace {

/// The terms with the C++ text of their atoms, ascending by it: what is printed follows the names of the
/// variables, not how the normal form sorts.
std::vector<std::pair<std::string, const Index::Term*>> alphabetical(const Index& index) {
    std::vector<std::pair<std::string, const Index::Term*>> terms;
    for (const Index::Term& term : index.terms()) terms.emplace_back(term.atom->text(), &term);
    std::ranges::sort(terms);
    return terms;
}

/// The factors of a product, in the order of their C++ text.
std::pair<const Index*, const Index*> alphabetical(const Index::Atom& product) {
    const Index &a = product.arguments[0], &b = product.arguments[1];
    return a.text() > b.text() ? std::pair(&b, &a) : std::pair(&a, &b);
}

}  // namespace

std::string Index::Atom::text() const {
    const auto argument = [&](size_t i) { return arguments[i].text(); };
    switch (kind) {
        case AtomKind::kVariable:
            return variable.name;
        case AtomKind::kRead:
            return "int64_t{" + buffer + "[" + argument(0) + "]}";
        case AtomKind::kFloorDiv:
            return arguments[0].bounds().low >= 0
                       ? fmt::format("({}) / {}", argument(0), modulus)
                       : fmt::format("ntt::floor_div<int64_t>({}, {})", argument(0), modulus);
        case AtomKind::kMod:
            return arguments[0].bounds().low >= 0
                       ? fmt::format("({}) % {}", argument(0), modulus)
                       : fmt::format("ntt::floor_mod<int64_t>({}, {})", argument(0), modulus);
        case AtomKind::kProduct: {
            const auto [first, second] = alphabetical(*this);
            return fmt::format("({}) * ({})", first->text(), second->text());
        }
        case AtomKind::kMin:
            return fmt::format("ntt::min<int64_t>({}, {})", argument(0), argument(1));
        case AtomKind::kMax:
            return fmt::format("ntt::max<int64_t>({}, {})", argument(0), argument(1));
    }
    return {};
}

namespace {

/// One operand of an operation that stands beside others.
std::string printed_operand(const Index& index) {
    const bool is_sum = index.terms().size() + (index.constant() != 0 ? 1 : 0) > 1;
    const std::string text = print(index);
    return is_sum || text.find(' ') != std::string::npos || text[0] == '-' ? "(" + text + ")" : text;
}

std::string print(const Index::Atom& atom) {
    const auto argument = [&](size_t i) { return print(atom.arguments[i]); };
    switch (atom.kind) {
        case Index::AtomKind::kVariable:
            return atom.variable.name;
        case Index::AtomKind::kRead:
            return fmt::format("{}[{}]", atom.buffer, argument(0));
        case Index::AtomKind::kFloorDiv:
            return fmt::format("({} div {})", printed_operand(atom.arguments[0]), atom.modulus);
        case Index::AtomKind::kMod:
            return fmt::format("({} mod {})", printed_operand(atom.arguments[0]), atom.modulus);
        case Index::AtomKind::kProduct: {
            const auto [first, second] = alphabetical(atom);
            return fmt::format("({} * {})", printed_operand(*first), printed_operand(*second));
        }
        case Index::AtomKind::kMin:
            return fmt::format("min({}, {})", argument(0), argument(1));
        case Index::AtomKind::kMax:
            return fmt::format("max({}, {})", argument(0), argument(1));
    }
    return {};
}

}  // namespace

std::string print(const Index& index) {
    std::string out;
    const auto add = [&](bool is_negative, const std::string& part) {
        out += out.empty() ? (is_negative ? "-" : "") : (is_negative ? " - " : " + ");
        out += part;
    };
    for (const auto& [text, term] : alphabetical(index)) {
        const std::string atom = print(*term->atom);
        const int64_t size = std::abs(term->coefficient);
        add(term->coefficient < 0, size == 1 ? atom : fmt::format("{} * {}", size, atom));
    }
    if (index.constant() != 0 || out.empty())
        add(index.constant() < 0, fmt::format("{}", std::abs(index.constant())));
    return out;
}

std::string Index::text() const {
    std::string out;
    for (const auto& [atom, term] : alphabetical(*this)) {
        const bool negative = term->coefficient < 0;
        const int64_t size = std::abs(term->coefficient);
        out += out.empty() ? (negative ? "-" : "") : (negative ? " - " : " + ");
        const bool compound = term->atom->kind == AtomKind::kFloorDiv || term->atom->kind == AtomKind::kMod;
        if (size == 1) {
            out += atom;
        } else {
            out += compound ? fmt::format("({}) * {}", atom, size) : fmt::format("{} * {}", atom, size);
        }
    }
    if (out.empty()) return fmt::format("{}", constant_);
    if (constant_ != 0)
        out += constant_ < 0 ? fmt::format(" - {}", -constant_) : fmt::format(" + {}", constant_);
    return out;
}

}  // namespace tessera::movement
