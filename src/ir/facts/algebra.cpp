#include "ir/facts/algebra.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "ir/body_value.h"
#include "support/error.h"

// X * (scale * q) + X - X       one monomial, X scale q: linear in each factor
// select(c, X, Y)               c X + Y - c Y, with c c = c: a choice that does not read X keeps linearity
// X * X / X                     powers add up: X
// max(X * X, 0)                 an atom of its own, unless the ranges of the arguments decide it

namespace tessera::facts {
namespace {

// Larger products of sums stay products; no real operator's body comes near.
constexpr size_t kLargestProduct = 1024;

bool is_boolean(const AlgebraAtom& atom) {
    return atom.range.is_integer && atom.range.low >= 0 && atom.range.high <= 1;
}

bool same_coordinates(const std::vector<ExprPtr>& a, const std::vector<ExprPtr>& b) {
    return std::ranges::equal(a, b, [](const ExprPtr& x, const ExprPtr& y) { return same(x, y); });
}

}  // namespace

Polynomial constant_polynomial(double value) {
    return value == 0 ? Polynomial{} : Polynomial{{Monomial{}, value}};
}

std::optional<double> constant_value(const Polynomial& p) {
    if (p.empty()) return 0.0;
    if (p.size() == 1 && p.begin()->first.empty()) return p.begin()->second;
    return std::nullopt;
}

Polynomial add(const Polynomial& a, const Polynomial& b, double times) {
    Polynomial sum = a;
    for (const auto& [monomial, coefficient] : b) {
        const auto [place, is_new] = sum.emplace(monomial, coefficient * times);
        if (is_new) continue;
        const double largest = std::max(std::abs(place->second), std::abs(coefficient * times));
        place->second += coefficient * times;
        // A remainder this small comes from cancelling rounded decimals: it is 0.
        if (std::abs(place->second) <= 1e-13 * largest) sum.erase(place);
    }
    return sum;
}

Polynomial Algebra::atom_polynomial(AlgebraAtom atom) {
    // Only one value is possible: it is a constant.
    if (atom.range.low == atom.range.high && std::isfinite(atom.range.low))
        return constant_polynomial(atom.range.low);
    return {{{{intern(std::move(atom)), 1}}, 1.0}};
}

int Algebra::intern(AlgebraAtom atom) {
    for (size_t i = 0; i < atoms_.size(); ++i) {
        const AlgebraAtom& known = atoms_[i];
        if (known.kind == atom.kind && known.index == atom.index && known.function == atom.function &&
            known.type == atom.type && known.arguments == atom.arguments &&
            same_coordinates(known.coordinates, atom.coordinates))
            return static_cast<int>(i);
    }
    atoms_.push_back(std::move(atom));
    return static_cast<int>(atoms_.size()) - 1;
}

ValueRange Algebra::range_of(const Monomial& m, double coefficient) const {
    ValueRange total{coefficient, coefficient, coefficient == std::floor(coefficient)};
    for (const auto& [id, exponent] : m) total = product(total, power_range(atom(id).range, exponent));
    return total;
}

ValueRange Algebra::range_of(const Polynomial& p) const {
    ValueRange total{0, 0, true};
    for (const auto& [monomial, coefficient] : p) {
        const ValueRange next = range_of(monomial, coefficient);
        total = {total.low + next.low, total.high + next.high, total.is_integer && next.is_integer};
    }
    if (std::isnan(total.low)) total.low = -kInf;
    if (std::isnan(total.high)) total.high = kInf;
    return total;
}

// The monomial with powers of booleans and of square roots reduced.
Polynomial Algebra::power(const Monomial& m) {
    Monomial plain;
    Polynomial beside = constant_polynomial(1);
    for (auto [id, exponent] : m) {
        const AlgebraAtom known = atom(id);
        if (exponent > 1 && is_boolean(known)) exponent = 1;
        if (exponent > 1 && options_.only_where_defined && known.kind == AlgebraAtom::Kind::kCall &&
            known.function == Function::kSqrt) {
            for (int i = 0; i < exponent / 2; ++i) beside = multiply(beside, known.arguments[0]);
            exponent %= 2;
        }
        if (exponent != 0) plain.emplace_back(id, exponent);
    }
    if (constant_value(beside) == 1.0) return {{plain, 1.0}};
    return multiply({{plain, 1.0}}, beside);
}

Polynomial Algebra::multiply(const Polynomial& a, const Polynomial& b) {
    if (a.size() * b.size() > kLargestProduct) return call(Function::kMul, {a, b});
    Polynomial total;
    for (const auto& [left, factor] : a)
        for (const auto& [right, other] : b) {
            std::map<int, int> powers(left.begin(), left.end());
            for (const auto& [id, exponent] : right) powers[id] += exponent;
            Monomial joined;
            for (const auto& [id, exponent] : powers)
                if (exponent != 0) joined.emplace_back(id, exponent);
            total = add(total, power(joined), factor * other);
        }
    return total;
}

Polynomial Algebra::inverse(const Polynomial& p) {
    if (p.size() == 1) {
        Monomial flipped = p.begin()->first;
        for (auto& [id, exponent] : flipped) exponent = -exponent;
        return {{flipped, 1 / p.begin()->second}};
    }
    AlgebraAtom atom{AlgebraAtom::Kind::kInverse};
    atom.arguments = {p};
    atom.range = inverse_range(range_of(p));
    return atom_polynomial(std::move(atom));
}

// p if it is a truth value already, else the atom "p is not 0".
Polynomial Algebra::indicator(const Polynomial& p) {
    if (const auto value = constant_value(p)) return constant_polynomial(*value != 0);
    const ValueRange r = range_of(p);
    if (r.is_integer && r.low >= 0 && r.high <= 1) return p;
    return call(Function::kNotEqual, {p, {}});
}

// True if p is a call of this function with `argument` among its arguments.
bool Algebra::is_call_with(const Polynomial& p, Function function, const Polynomial& argument) const {
    if (p.size() != 1 || p.begin()->second != 1) return false;
    const Monomial& factors = p.begin()->first;
    if (factors.size() != 1 || factors[0].second != 1) return false;
    const AlgebraAtom& call = atom(factors[0].first);
    return call.kind == AlgebraAtom::Kind::kCall && call.function == function &&
           std::ranges::find(call.arguments, argument) != call.arguments.end();
}

// max(X, min(X, W)) is X.
Polynomial Algebra::simplified_call(Function function, std::vector<Polynomial>& arguments, bool& done) {
    done = true;
    const ValueRange first = range_of(arguments[0]);
    switch (function) {
        case Function::kMin:
        case Function::kMax: {
            const double sign = function == Function::kMax ? 1 : -1;
            const ValueRange second = range_of(arguments[1]);
            if (second.low == second.high && second.low == -sign * kInf) return arguments[0];
            if (first.low == first.high && first.low == -sign * kInf) return arguments[1];
            const ValueRange difference = range_of(add(arguments[0], arguments[1], -1));
            if (sign * difference.low >= 0 && sign * difference.high >= 0) return arguments[0];
            if (sign * difference.low <= 0 && sign * difference.high <= 0) return arguments[1];
            const Function opposite = function == Function::kMax ? Function::kMin : Function::kMax;
            if (is_call_with(arguments[1], opposite, arguments[0])) return arguments[0];
            if (is_call_with(arguments[0], opposite, arguments[1])) return arguments[1];
            if (arguments[1] < arguments[0]) std::swap(arguments[0], arguments[1]);
            break;
        }
        case Function::kAbs:
            if (first.low >= 0) return arguments[0];
            if (first.high <= 0) return add({}, arguments[0], -1);
            break;
        case Function::kRound:
            if (first.is_integer) return arguments[0];
            break;
        case Function::kFloorDiv:
            if (constant_value(arguments[1]) == 1.0 && first.is_integer) return arguments[0];
            break;
        case Function::kMod:
            if (const auto divisor = constant_value(arguments[1]);
                divisor && first.low >= 0 && first.high < *divisor)
                return arguments[0];
            break;
        case Function::kExp:
            if (options_.only_where_defined && arguments[0].size() == 1) {
                const auto& [monomial, coefficient] = *arguments[0].begin();
                if (coefficient == 1 && monomial.size() == 1 && monomial[0].second == 1)
                    if (const AlgebraAtom& inner = atom(monomial[0].first);
                        inner.kind == AlgebraAtom::Kind::kCall && inner.function == Function::kLog)
                        return inner.arguments[0];
            }
            break;
        case Function::kRsqrt:
            return inverse(call(Function::kSqrt, {arguments[0]}));
        default:
            if (is_comparison(function))
                if (const auto known = decided(function, range_of(add(arguments[0], arguments[1], -1))))
                    return constant_polynomial(*known);
            break;
    }
    done = false;
    return {};
}

Polynomial Algebra::call(Function function, std::vector<Polynomial> arguments) {
    std::vector<double> values;
    for (const Polynomial& p : arguments)
        if (const auto value = constant_value(p)) values.push_back(*value);
    if (values.size() == arguments.size()) {
        const double value = apply_function(function, values);
        if (std::isfinite(value)) return constant_polynomial(value);
    }
    bool done = false;
    Polynomial simple = simplified_call(function, arguments, done);
    if (done) return simple;
    AlgebraAtom atom{AlgebraAtom::Kind::kCall};
    atom.function = function;
    std::vector<ValueRange> ranges;
    for (const Polynomial& p : arguments) ranges.push_back(range_of(p));
    atom.range = function == Function::kMul ? product(ranges[0], ranges[1]) : call_range(function, ranges);
    atom.arguments = std::move(arguments);
    return atom_polynomial(std::move(atom));
}

Polynomial Algebra::apply(const Apply& node) {
    std::vector<Polynomial> a;
    for (const ExprPtr& argument : node.arguments) a.push_back(normal_form(argument));
    switch (node.function) {
        case Function::kAdd:
            return add(a[0], a[1]);
        case Function::kSub:
            return add(a[0], a[1], -1);
        case Function::kNegate:
            return add({}, a[0], -1);
        case Function::kMul:
            return multiply(a[0], a[1]);
        case Function::kDivide:
            if (a[1].empty()) return call(Function::kDivide, std::move(a));
            return multiply(a[0], inverse(a[1]));
        case Function::kAnd:
            return multiply(indicator(a[0]), indicator(a[1]));
        case Function::kOr: {
            const Polynomial left = indicator(a[0]);
            const Polynomial right = indicator(a[1]);
            return add(add(left, right), multiply(left, right), -1);
        }
        case Function::kNot:
            return add(constant_polynomial(1), indicator(a[0]), -1);
        case Function::kSelect: {
            const Polynomial condition = indicator(a[0]);
            return add(a[2], multiply(condition, add(a[1], a[2], -1)));
        }
        default:
            return call(node.function, std::move(a));
    }
}

Polynomial Algebra::normal_form(const ExprPtr& expr) {
    if (const auto* n = std::get_if<Number>(&expr->node)) return constant_polynomial(n->value);
    if (const auto* d = std::get_if<DimRef>(&expr->node))
        return constant_polynomial(static_cast<double>(bound_.extents.dims[static_cast<size_t>(d->index)]));
    if (const auto* a = std::get_if<Apply>(&expr->node)) return apply(*a);
    AlgebraAtom atom{AlgebraAtom::Kind::kInfinity};
    if (const auto* c = std::get_if<Cast>(&expr->node)) {
        Polynomial argument = normal_form(c->argument);
        if (is_exact_cast(counted_type(bound_.definition, c->argument), c->to)) return argument;
        if (const auto value = constant_value(argument)) return constant_polynomial(round_to(c->to, *value));
        const ValueRange in = range_of(argument);
        const ValueRange out = type_range(c->to);
        if (in.is_integer && out.is_integer && out.low <= in.low && in.high <= out.high) return argument;
        atom.kind = AlgebraAtom::Kind::kCast;
        atom.type = c->to;
        atom.range = out.is_integer ? ValueRange{std::trunc(std::clamp(in.low, out.low, out.high)),
                                                 std::trunc(std::clamp(in.high, out.low, out.high)), true}
                                    : ValueRange{in.low >= 0 ? 0 : -kInf, in.high <= 0 ? 0 : kInf, false};
        atom.arguments = {std::move(argument)};
    } else if (const auto* r = std::get_if<Read>(&expr->node)) {
        if (options_.constant_read)
            if (const auto value = options_.constant_read(*r)) {
                if (std::isfinite(*value)) return constant_polynomial(*value);
                atom.range = {kInf, kInf, false};
                return {{{{intern(std::move(atom)), 1}}, *value > 0 ? 1.0 : -1.0}};
            }
        atom.kind = AlgebraAtom::Kind::kRead;
        atom.index = r->tensor;
        atom.coordinates = r->coordinates;
        atom.range = r->tensor == options_.real_tensor ? ValueRange{-kInf, kInf, false}
                                                       : type_range(bound_.tensor(r->tensor).type);
        if (const auto& known = bound_.contents[static_cast<size_t>(r->tensor)]; !known.empty()) {
            const auto [low, high] = std::minmax_element(known.begin(), known.end());
            atom.range = {*low, *high, is_integer(bound_.tensor(r->tensor).type)};
        }
        if (options_.finite_reads)
            atom.range = {std::max(atom.range.low, -1e30), std::min(atom.range.high, 1e30),
                          atom.range.is_integer};
        if (options_.outside)
            if (const auto value = options_.outside(*r))
                atom.range = {std::min(atom.range.low, *value), std::max(atom.range.high, *value),
                              atom.range.is_integer};
    } else if (const auto* i = std::get_if<IteratorRef>(&expr->node)) {
        const auto x = static_cast<size_t>(i->index);
        const Range values =
            options_.iterators.empty() ? Range{0, bound_.extents.iterators[x]} : options_.iterators[x];
        atom.kind = AlgebraAtom::Kind::kIterator;
        atom.index = i->index;
        atom.range = {static_cast<double>(values.first), static_cast<double>(values.last - 1), true};
    } else if (std::holds_alternative<Folded>(expr->node)) {
        atom.kind = AlgebraAtom::Kind::kFolded;
        atom.range = options_.folded.value_or(type_range(bound_.definition.accumulator));
    } else {
        TESSERA_CHECK(std::holds_alternative<Infinity>(expr->node), "a leaf of another kind in a body");
        atom.range = {kInf, kInf, false};
    }
    return atom_polynomial(std::move(atom));
}

std::vector<int> atoms_in(const Algebra& algebra, const Polynomial& p) {
    std::set<int> found;
    std::vector<const Polynomial*> open = {&p};
    while (!open.empty()) {
        const Polynomial& next = *open.back();
        open.pop_back();
        for (const auto& [monomial, coefficient] : next)
            for (const auto& [id, exponent] : monomial)
                if (found.insert(id).second)
                    for (const Polynomial& argument : algebra.atom(id).arguments) open.push_back(&argument);
    }
    return {found.begin(), found.end()};
}

ElementType counted_type(const Definition& definition, const ExprPtr& expr) {
    if (std::holds_alternative<Folded>(expr->node)) return definition.accumulator;
    if (const auto* r = std::get_if<Read>(&expr->node))
        return definition.tensors[static_cast<size_t>(r->tensor)].type;
    if (const auto* c = std::get_if<Cast>(&expr->node)) return c->to;
    if (const auto* n = std::get_if<Number>(&expr->node))
        return n->is_integer ? ElementType::kI32 : ElementType::kF32;
    if (std::holds_alternative<Infinity>(expr->node)) return ElementType::kF32;
    const auto* call = std::get_if<Apply>(&expr->node);
    if (!call) return ElementType::kI32;  // iterators and dims
    const Function f = call->function;
    if (is_comparison(f) || f == Function::kAnd || f == Function::kOr) return ElementType::kI32;
    if (is_special(f) || f == Function::kDivide) return ElementType::kF32;
    const size_t first = f == Function::kSelect ? 1 : 0;
    const bool integers =
        std::all_of(call->arguments.begin() + static_cast<std::ptrdiff_t>(first), call->arguments.end(),
                    [&](const ExprPtr& argument) { return is_integer(counted_type(definition, argument)); });
    return integers ? ElementType::kI32 : ElementType::kF32;
}

Dependence dependence(const Algebra& algebra, const Polynomial& p,
                      const std::function<Dependence(const AlgebraAtom&)>& atom_dependence) {
    std::function<Dependence(int)> of_atom = [&](int id) {
        const AlgebraAtom& atom = algebra.atom(id);
        if (atom.arguments.empty()) return atom_dependence(atom);
        for (const Polynomial& argument : atom.arguments)
            for (const auto& [monomial, coefficient] : argument)
                for (const auto& [inner, exponent] : monomial)
                    if (of_atom(inner) != Dependence::kNone) return Dependence::kOther;
        return Dependence::kNone;
    };
    bool none = true;
    bool linear = true;
    for (const auto& [monomial, coefficient] : p) {
        int degree = 0;
        for (const auto& [id, exponent] : monomial) {
            const Dependence atom = of_atom(id);
            if (atom == Dependence::kNone) continue;
            none = false;
            degree += atom == Dependence::kLinear && exponent == 1 ? 1 : 2;
        }
        linear = linear && degree == 1;
    }
    return none ? Dependence::kNone : linear ? Dependence::kLinear : Dependence::kOther;
}

}  // namespace tessera::facts
