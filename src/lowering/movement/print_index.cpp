#include <algorithm>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "lowering/movement/index.h"

namespace tessera::movement {
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
            const auto [first, second] =
                std::minmax({printed_operand(atom.arguments[0]), printed_operand(atom.arguments[1])});
            return fmt::format("({} * {})", first, second);
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
    // Terms are printed in the order of their names, not in that of the normal form.
    std::vector<std::pair<std::string, int64_t>> terms;
    for (const Index::Term& term : index.terms()) terms.emplace_back(print(*term.atom), term.coefficient);
    std::ranges::sort(terms);
    std::string out;
    const auto add = [&](bool is_negative, const std::string& part) {
        out += out.empty() ? (is_negative ? "-" : "") : (is_negative ? " - " : " + ");
        out += part;
    };
    for (const auto& [atom, coefficient] : terms) {
        const int64_t size = std::abs(coefficient);
        add(coefficient < 0, size == 1 ? atom : fmt::format("{} * {}", size, atom));
    }
    if (index.constant() != 0 || out.empty())
        add(index.constant() < 0, fmt::format("{}", std::abs(index.constant())));
    return out;
}

}  // namespace tessera::movement
