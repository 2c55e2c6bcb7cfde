#include <cstdlib>

#include <fmt/format.h>

#include "movement/index.h"

namespace tessera::movement {

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
        case AtomKind::kProduct:
            return fmt::format("({}) * ({})", argument(0), argument(1));
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
        case Index::AtomKind::kProduct:
            return fmt::format("({} * {})", printed_operand(atom.arguments[0]),
                               printed_operand(atom.arguments[1]));
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
    for (const auto& [key, term] : index.terms()) {
        const std::string atom = print(*term.atom);
        const int64_t size = std::abs(term.coefficient);
        add(term.coefficient < 0, size == 1 ? atom : fmt::format("{} * {}", size, atom));
    }
    if (index.constant() != 0 || out.empty())
        add(index.constant() < 0, fmt::format("{}", std::abs(index.constant())));
    return out;
}

std::string Index::text() const {
    std::string out;
    for (const auto& [key, term] : terms_) {
        const bool negative = term.coefficient < 0;
        const int64_t size = std::abs(term.coefficient);
        out += out.empty() ? (negative ? "-" : "") : (negative ? " - " : " + ");
        const bool compound = term.atom->kind == AtomKind::kFloorDiv || term.atom->kind == AtomKind::kMod;
        if (size == 1) {
            out += key;
        } else {
            out += compound ? fmt::format("({}) * {}", key, size) : fmt::format("{} * {}", key, size);
        }
    }
    if (out.empty()) return fmt::format("{}", constant_);
    if (constant_ != 0)
        out += constant_ < 0 ? fmt::format(" - {}", -constant_) : fmt::format(" + {}", constant_);
    return out;
}

}  // namespace tessera::movement
