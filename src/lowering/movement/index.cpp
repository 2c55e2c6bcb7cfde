#include "lowering/movement/index.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <set>

#include "support/error.h"

namespace tessera::movement {
namespace {

__extension__ typedef __int128 Wide;  // products of two 64-bit bounds

constexpr Bounds kIndexOperand{std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};

/// Without the smallest number of 64 bits, so that every other one has a negative.
int64_t in_range(Wide value) {
    constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
    if (value > kLargest || value < -kLargest) throw IndexOverflow();
    return static_cast<int64_t>(value);
}

int64_t sum_of(int64_t a, int64_t b) {
    return in_range(static_cast<Wide>(a) + b);
}

int64_t product_of(int64_t a, int64_t b) {
    return in_range(static_cast<Wide>(a) * b);
}

int64_t clamp_far(Wide value) {
    return static_cast<int64_t>(std::clamp<Wide>(value, -kFar, kFar));
}

Bounds bounds_of(const Index::Atom& atom) {
    const auto argument = [&](size_t i) { return atom.arguments[i].bounds(); };
    const auto floored = [&](int64_t x) {
        return x >= 0 ? x / atom.modulus : -((-x - 1) / atom.modulus) - 1;
    };
    switch (atom.kind) {
        case Index::AtomKind::kVariable:
            return atom.variable.bounds;
        case Index::AtomKind::kRead:
            return kIndexOperand;
        case Index::AtomKind::kFloorDiv:
            return {floored(argument(0).low), floored(argument(0).high)};
        case Index::AtomKind::kMod:
            return {0, atom.modulus - 1};
        case Index::AtomKind::kMin:
            return {std::min(argument(0).low, argument(1).low), std::min(argument(0).high, argument(1).high)};
        case Index::AtomKind::kMax:
            return {std::max(argument(0).low, argument(1).low), std::max(argument(0).high, argument(1).high)};
        case Index::AtomKind::kProduct: {
            const Bounds a = argument(0), b = argument(1);
            const Wide corners[] = {static_cast<Wide>(a.low) * b.low, static_cast<Wide>(a.low) * b.high,
                                    static_cast<Wide>(a.high) * b.low, static_cast<Wide>(a.high) * b.high};
            return {clamp_far(*std::min_element(corners, corners + 4)),
                    clamp_far(*std::max_element(corners, corners + 4))};
        }
    }
    return {-kFar, kFar};
}

/// A number that divides a * b if these are multiples of a and b: their product, or one of them where that
/// is too large.
int64_t common_divisor(int64_t a, int64_t b) {
    const Wide product = static_cast<Wide>(a) * b;
    return product >= -kFar && product <= kFar ? static_cast<int64_t>(product) : a;
}

int64_t divisor_of(const Index::Atom& atom) {
    switch (atom.kind) {
        case Index::AtomKind::kVariable:
            return atom.variable.multiple_of;
        case Index::AtomKind::kMod:
            return std::gcd(atom.arguments[0].divisor(), atom.modulus);
        case Index::AtomKind::kProduct:
            return common_divisor(atom.arguments[0].divisor(), atom.arguments[1].divisor());
        case Index::AtomKind::kMin:
        case Index::AtomKind::kMax:
            return std::gcd(atom.arguments[0].divisor(), atom.arguments[1].divisor());
        case Index::AtomKind::kFloorDiv:
        case Index::AtomKind::kRead:
            return 1;
    }
    return 1;
}

}  // namespace

IndexOverflow::IndexOverflow()
    : Error("index expression", {}, "a constant or a coefficient exceeds 64 bits",
            "tiles, strides and extents must be smaller") {}

std::strong_ordering operator<=>(const Index::Atom& a, const Index::Atom& b) {
    if (&a == &b) return std::strong_ordering::equal;
    if (const auto order = a.kind <=> b.kind; order != 0) return order;
    if (const auto order = a.modulus <=> b.modulus; order != 0) return order;
    if (const auto order = a.variable.name <=> b.variable.name; order != 0) return order;
    if (const auto order = a.buffer <=> b.buffer; order != 0) return order;
    return a.arguments <=> b.arguments;
}

std::strong_ordering operator<=>(const Index::Term& a, const Index::Term& b) {
    const auto order = *a.atom <=> *b.atom;
    return order != 0 ? order : a.coefficient <=> b.coefficient;
}

bool operator==(const Index::Term& a, const Index::Term& b) {
    return a.coefficient == b.coefficient && *a.atom == *b.atom;
}

std::strong_ordering operator<=>(const Index& a, const Index& b) {
    const auto order = a.terms_ <=> b.terms_;
    return order != 0 ? order : a.constant_ <=> b.constant_;
}

Index index_of(Index::Term term) {
    Index result;
    if (term.coefficient != 0) result.terms_.push_back(std::move(term));
    return result;
}

namespace {

Index atom_index(Index::Atom atom) {
    return index_of({std::make_shared<const Index::Atom>(std::move(atom)), 1});
}

}  // namespace

Index Index::variable(const Variable& variable) {
    if (variable.bounds.low == variable.bounds.high) return {variable.bounds.low};
    return atom_index({.kind = AtomKind::kVariable, .variable = variable, .buffer = {}, .arguments = {}});
}

Index Index::read(const std::string& buffer, const Index& offset) {
    return atom_index({.kind = AtomKind::kRead, .variable = {}, .buffer = buffer, .arguments = {offset}});
}

std::optional<int64_t> Index::as_constant() const {
    return terms_.empty() ? std::optional(constant_) : std::nullopt;
}

Bounds Index::bounds() const {
    Wide low = constant_, high = constant_;
    for (const auto& [atom, coefficient] : terms_) {
        const Bounds b = bounds_of(*atom);
        low += static_cast<Wide>(coefficient) * (coefficient > 0 ? b.low : b.high);
        high += static_cast<Wide>(coefficient) * (coefficient > 0 ? b.high : b.low);
    }
    return {clamp_far(low), clamp_far(high)};
}

int64_t Index::divisor() const {
    int64_t result = std::abs(constant_);
    for (const auto& [atom, coefficient] : terms_)
        result = std::gcd(result, common_divisor(coefficient, divisor_of(*atom)));
    return result;
}

bool Index::uses(const std::string& variable) const {
    return std::any_of(terms_.begin(), terms_.end(), [&](const Term& term) {
        const Atom& atom = *term.atom;
        return atom.kind == AtomKind::kVariable
                   ? atom.variable.name == variable
                   : std::any_of(atom.arguments.begin(), atom.arguments.end(),
                                 [&](const Index& a) { return a.uses(variable); });
    });
}

bool Index::uses_in_products(const std::string& variable) const {
    return std::ranges::all_of(terms_, [&](const Term& term) {
        if (term.atom->kind == AtomKind::kVariable) return true;
        return std::ranges::all_of(term.atom->arguments, [&](const Index& argument) {
            return !argument.uses(variable) ||
                   (term.atom->kind == AtomKind::kProduct && argument.uses_in_products(variable));
        });
    });
}

std::optional<int64_t> Index::coefficient(const std::string& variable) const {
    int64_t result = 0;
    for (const Term& term : terms_) {
        if (term.atom->kind == AtomKind::kVariable) {
            if (term.atom->variable.name == variable) result = term.coefficient;
        } else if (std::any_of(term.atom->arguments.begin(), term.atom->arguments.end(),
                               [&](const Index& a) { return a.uses(variable); })) {
            return std::nullopt;
        }
    }
    return result;
}

Index Index::substitute(const std::string& variable, const Index& by) const {
    Index result(constant_);
    for (const Term& term : terms_) {
        const Atom& atom = *term.atom;
        std::vector<Index> arguments;
        arguments.reserve(atom.arguments.size());
        for (const Index& a : atom.arguments) arguments.push_back(a.substitute(variable, by));
        Index replaced;
        switch (atom.kind) {
            case AtomKind::kVariable:
                replaced = atom.variable.name == variable ? by : Index::variable(atom.variable);
                break;
            case AtomKind::kRead:
                replaced = read(atom.buffer, arguments[0]);
                break;
            case AtomKind::kFloorDiv:
                replaced = floor_div(arguments[0], atom.modulus);
                break;
            case AtomKind::kMod:
                replaced = mod(arguments[0], atom.modulus);
                break;
            case AtomKind::kProduct:
                replaced = arguments[0] * arguments[1];
                break;
            case AtomKind::kMin:
                replaced = min(arguments[0], arguments[1]);
                break;
            case AtomKind::kMax:
                replaced = max(arguments[0], arguments[1]);
                break;
        }
        result = result + replaced * Index(term.coefficient);
    }
    return result;
}

namespace {

/// (x div c) c + x mod c = x, for every pair of such terms whose coefficients match.
Index joined(const Index& index) {
    for (const Index::Term& term : index.terms()) {
        if (term.atom->kind != Index::AtomKind::kMod) continue;
        const Index& x = term.atom->arguments[0];
        const int64_t c = term.atom->modulus;
        for (const Index::Term& other : index.terms()) {
            if (other.atom->kind != Index::AtomKind::kFloorDiv || other.atom->modulus != c) continue;
            if (static_cast<Wide>(term.coefficient) * c != other.coefficient) continue;
            if (!(other.atom->arguments[0] == x)) continue;
            Index rest(index.constant());
            for (const Index::Term& kept : index.terms())
                if (&kept != &term && &kept != &other) rest = rest + index_of(kept);
            return rest + x * Index(term.coefficient);
        }
    }
    return index;
}

}  // namespace

Index operator+(const Index& a, const Index& b) {
    Index result(sum_of(a.constant_, b.constant_));
    result.terms_.reserve(a.terms_.size() + b.terms_.size());
    auto left = a.terms_.begin(), right = b.terms_.begin();
    while (left != a.terms_.end() && right != b.terms_.end()) {
        const auto order = *left->atom <=> *right->atom;
        if (order != 0) {
            result.terms_.push_back(order < 0 ? *left++ : *right++);
            continue;
        }
        const int64_t coefficient = sum_of(left->coefficient, right->coefficient);
        if (coefficient != 0) result.terms_.push_back({left->atom, coefficient});
        ++left, ++right;
    }
    result.terms_.insert(result.terms_.end(), left, a.terms_.end());
    result.terms_.insert(result.terms_.end(), right, b.terms_.end());
    return joined(result);
}

Index operator-(const Index& a, const Index& b) {
    return a + b * Index(-1);
}

Index operator*(const Index& a, const Index& b) {
    if (!b.terms_.empty() && a.terms_.empty()) return b * a;
    if (!b.terms_.empty()) {
        if (a > b) return b * a;
        return atom_index(
            {.kind = Index::AtomKind::kProduct, .variable = {}, .buffer = {}, .arguments = {a, b}});
    }
    Index result;
    if (b.constant_ == 0) return result;
    result = a;
    result.constant_ = product_of(result.constant_, b.constant_);
    for (Index::Term& term : result.terms_) term.coefficient = product_of(term.coefficient, b.constant_);
    return result;
}

namespace {

/// a = whole + rest, where every part of `whole` is a multiple of the divisor.
std::pair<Index, Index> split(const Index& a, int64_t divisor) {
    Index whole, rest;
    for (const Index::Term& term : a.terms()) {
        const Index part = index_of(term);
        (part.divisor() % divisor == 0 ? whole : rest) =
            (part.divisor() % divisor == 0 ? whole : rest) + part;
    }
    const int64_t constant = a.constant();
    const int64_t remainder = constant % divisor + (constant % divisor < 0 ? divisor : 0);
    return {whole + Index(sum_of(constant, -remainder)), rest + Index(remainder)};
}

/// whole / divisor for an index all of whose parts are multiples of it. Atoms that are multiples by what is
/// known of them (and not by their coefficient) stay divisions.
Index exact_quotient(const Index& whole, int64_t divisor) {
    Index result(whole.constant() / divisor);
    for (const Index::Term& term : whole.terms()) {
        if (term.coefficient % divisor == 0) {
            result = result + index_of({term.atom, term.coefficient / divisor});
        } else {
            const Index part = index_of(term);
            result = result + atom_index({.kind = Index::AtomKind::kFloorDiv,
                                          .variable = {},
                                          .buffer = {},
                                          .modulus = divisor,
                                          .arguments = {part}});
        }
    }
    return result;
}

/// rest = coarse + fine with coarse a multiple of g, 0 <= fine < g and g a divisor of `divisor`: then
/// rest div divisor = coarse div divisor, and rest mod divisor = coarse mod divisor + fine.
std::optional<std::pair<Index, Index>> coarse_and_fine(const Index& rest, int64_t divisor) {
    std::set<int64_t, std::greater<>> grains;
    for (const Index::Term& term : rest.terms()) grains.insert(std::gcd(index_of(term).divisor(), divisor));
    for (const int64_t g : grains) {
        if (g == 1) continue;
        const auto [coarse, fine] = split(rest, g);
        const Bounds b = fine.bounds();
        if (b.low >= 0 && b.high < g && !fine.terms().empty()) return std::pair(coarse, fine);
    }
    return std::nullopt;
}

}  // namespace

Index floor_div(const Index& a, int64_t divisor) {
    TESSERA_CHECK(divisor != 0);
    if (divisor < 0) return floor_div(Index(0) - a, product_of(divisor, -1));
    if (divisor == 1) return a;
    auto [whole, rest] = split(a, divisor);
    const Bounds b = rest.bounds();
    if (b.low >= 0 && b.high < divisor) return exact_quotient(whole, divisor);
    if (const auto parts = coarse_and_fine(rest, divisor))
        return exact_quotient(whole, divisor) + floor_div(parts->first, divisor);
    // (x div c) div d = x div (c d)
    if (rest.terms().size() == 1 && rest.constant() == 0) {
        const Index::Term& term = rest.terms().front();
        if (term.coefficient == 1 && term.atom->kind == Index::AtomKind::kFloorDiv) {
            return exact_quotient(whole, divisor) +
                   floor_div(term.atom->arguments[0], product_of(term.atom->modulus, divisor));
        }
    }
    return exact_quotient(whole, divisor) + atom_index({.kind = Index::AtomKind::kFloorDiv,
                                                        .variable = {},
                                                        .buffer = {},
                                                        .modulus = divisor,
                                                        .arguments = {rest}});
}

Index mod(const Index& a, int64_t divisor) {
    TESSERA_CHECK(divisor != 0);
    if (divisor < 0) return Index(0) - mod(Index(0) - a, product_of(divisor, -1));
    if (divisor == 1) return {};
    auto [whole, rest] = split(a, divisor);
    const Bounds b = rest.bounds();
    if (b.low >= 0 && b.high < divisor) return rest;
    if (const auto parts = coarse_and_fine(rest, divisor)) return mod(parts->first, divisor) + parts->second;
    return atom_index({.kind = Index::AtomKind::kMod,
                       .variable = {},
                       .buffer = {},
                       .modulus = divisor,
                       .arguments = {rest}});
}

Index min(const Index& a, const Index& b) {
    const Bounds difference = (a - b).bounds();
    if (difference.high <= 0) return a;
    if (difference.low >= 0) return b;
    return atom_index({.kind = Index::AtomKind::kMin, .variable = {}, .buffer = {}, .arguments = {a, b}});
}

Index max(const Index& a, const Index& b) {
    const Bounds difference = (a - b).bounds();
    if (difference.high <= 0) return b;
    if (difference.low >= 0) return a;
    return atom_index({.kind = Index::AtomKind::kMax, .variable = {}, .buffer = {}, .arguments = {a, b}});
}

}  // namespace tessera::movement
