#include "ir/facts/commute.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "ir/facts/algebra.h"
#include "ir/facts/evaluate.h"
#include "ir/facts/folded_range.h"
#include "ir/facts/monotone.h"
#include "ir/facts/touched.h"

// Under sum the normal form decides: every monomial holds the folded value once, as a factor. Under prod it
// is a product of powers of it, free of anything else. Under max and min the signs of factors decide most
// cases; for the rest (`select(y > 0, y, 0.1 * y)`) a counterexample is sought at many points: folded values
// of all magnitudes and around the numbers in the expression, and elements anywhere in the range of their
// type.

namespace tessera::facts {
namespace {

// Points at which an undecided post-expression is compared with itself; a fold and a rise both show in a few
// percent.
constexpr size_t kTrials = 1 << 14;

// Narrows the folded value to where the square roots and logarithms of it are numbers.
ValueRange domain(const BoundDefinition& bound) {
    ValueRange folded = accumulator_range(bound.definition);
    Algebra algebra(bound, {});
    walk(bound.definition.post, [&](const Expr& expr) {
        const auto* call = std::get_if<Apply>(&expr.node);
        if (!call || (call->function != Function::kSqrt && call->function != Function::kRsqrt &&
                      call->function != Function::kLog))
            return true;
        const Polynomial argument = algebra.normal_form(call->arguments[0]);
        if (argument.size() != 1) return true;
        Monomial factor;
        bool once = false;
        for (const auto& [id, exponent] : argument.begin()->first) {
            if (algebra.atom(id).kind == AlgebraAtom::Kind::kFolded && exponent % 2 != 0)
                once = true;
            else
                factor.emplace_back(id, exponent);
        }
        const ValueRange sign = algebra.range_of(factor, argument.begin()->second);
        if (once && sign.low >= 0) folded.low = std::max(folded.low, 0.0);
        if (once && sign.high <= 0) folded.high = std::min(folded.high, 0.0);
        return true;
    });
    return folded;
}

bool holds_folded(const Algebra& algebra, const Polynomial& p) {
    return dependence(algebra, p, [](const AlgebraAtom& atom) {
               return atom.kind == AlgebraAtom::Kind::kFolded ? Dependence::kOther : Dependence::kNone;
           }) != Dependence::kNone;
}

// True if the post-expression is a number for every partial result whenever that of the whole is one. A
// subexpression that is NaN whatever the partial result, like the logarithm of an operand, is NaN in the
// whole as well; so is the square root of the least value if that of any partial result is NaN.
bool is_defined(const BoundDefinition& bound) {
    AlgebraOptions options;
    options.folded = folded_range(bound, ExecutedIterations(bound, whole_box(bound)));
    Algebra algebra(bound, options);
    bool defined = true;
    walk(bound.definition.post, [&](const Expr& expr) {
        const auto* call = std::get_if<Apply>(&expr.node);
        if (!call || (call->function != Function::kSqrt && call->function != Function::kRsqrt &&
                      call->function != Function::kLog))
            return defined;
        const Polynomial argument = algebra.normal_form(call->arguments[0]);
        if (!holds_folded(algebra, argument) || algebra.range_of(argument).low >= 0) return defined;
        const Direction moves = direction(algebra, argument);
        defined = defined && ((bound.definition.monoid == Monoid::kMin && moves == Direction::kIncreasing) ||
                              (bound.definition.monoid == Monoid::kMax && moves == Direction::kDecreasing));
        return defined;
    });
    return defined;
}

bool is_multiplicative(const Algebra& algebra, const Polynomial& p) {
    if (p.empty()) return true;
    if (p.size() != 1 || p.begin()->second != 1) return false;
    return std::ranges::all_of(p.begin()->first, [&](const auto& power) {
        const AlgebraAtom& atom = algebra.atom(power.first);
        if (atom.kind == AlgebraAtom::Kind::kFolded) return true;
        return atom.kind == AlgebraAtom::Kind::kCall &&
               (atom.function == Function::kAbs || atom.function == Function::kSqrt) &&
               is_multiplicative(algebra, atom.arguments[0]);
    });
}

class Sampler {
public:
    explicit Sampler(const BoundDefinition& bound) : bound_(bound) {
        walk(bound.definition.post, [&](const Expr& expr) {
            if (const auto* n = std::get_if<Number>(&expr.node)) marks_.push_back(n->value);
            if (const auto* d = std::get_if<DimRef>(&expr.node))
                marks_.push_back(static_cast<double>(bound.extents.dims[static_cast<size_t>(d->index)]));
            return true;
        });
    }

    bool takes(double folded) {
        const Column at_identity = evaluate_at(Column(kTrials, folded));
        Column anywhere(kTrials);
        for (double& y : anywhere) y = folded_value();
        const Column elsewhere = evaluate_at(anywhere);
        for (size_t i = 0; i < kTrials; ++i)
            if (std::isnan(at_identity[i]) && std::isfinite(elsewhere[i])) return false;
        return true;
    }

    bool finds_a_fall() {
        Column lower(kTrials);
        Column upper(kTrials);
        for (size_t i = 0; i < kTrials; ++i) {
            lower[i] = folded_value();
            upper[i] = i % 2 == 0 ? folded_value() : lower[i] + std::abs(lower[i]) * 0.01 + 1e-3;
            if (is_integer(bound_.definition.accumulator))
                upper[i] = std::floor(upper[i]) + static_cast<double>(i % 2);
            if (upper[i] < lower[i]) std::swap(lower[i], upper[i]);
        }
        const Column below = evaluate_at(lower);
        const Column above = evaluate_at(upper);
        for (size_t i = 0; i < kTrials; ++i) {
            const double slack = 1e-9 * std::max(std::abs(below[i]), std::abs(above[i]));
            if (below[i] > above[i] + (std::isfinite(slack) ? slack : 0)) return true;
        }
        return false;
    }

private:
    double uniform(double low, double high) {
        return std::uniform_real_distribution<double>(low, high)(random_);
    }

    double any_real() { return (uniform(0, 1) < 0.5 ? -1 : 1) * std::pow(10.0, uniform(-3, 4)); }

    double folded_value() {
        double y = any_real();
        if (!marks_.empty() && uniform(0, 1) < 0.3) {
            const double mark = marks_[static_cast<size_t>(random_() % marks_.size())];
            y = (uniform(0, 1) < 0.5 ? -mark : mark) + uniform(-0.1, 0.1) * (1 + std::abs(mark));
        }
        return is_integer(bound_.definition.accumulator) ? std::floor(y) : y;
    }

    double element(int tensor) {
        const std::vector<double>& known = bound_.contents[static_cast<size_t>(tensor)];
        if (!known.empty()) return known[random_() % known.size()];
        const ElementType type = bound_.tensor(tensor).type;
        if (!is_integer(type)) return any_real();
        if (uniform(0, 1) < 0.1) return 0;
        const IntegerRange r = range(type);
        return std::floor(uniform(static_cast<double>(r.low), static_cast<double>(r.high) + 1));
    }

    // The same elements and iterators at every call: only the folded value differs.
    Column evaluate_at(const Column& folded) {
        const LeafColumn leaf = [&](const Expr& expr) -> Column {
            if (std::holds_alternative<Folded>(expr.node)) return folded;
            for (const auto& [known, values] : drawn_)
                if (same(known, std::make_shared<const Expr>(expr))) return values;
            Column values(kTrials);
            for (double& value : values) {
                if (const auto* i = std::get_if<IteratorRef>(&expr.node))
                    value = static_cast<double>(
                        random_() %
                        static_cast<uint64_t>(bound_.extents.iterators[static_cast<size_t>(i->index)]));
                else
                    value = element(std::get<Read>(expr.node).tensor);
            }
            drawn_.emplace_back(std::make_shared<const Expr>(expr), values);
            return values;
        };
        return evaluate_column(bound_.definition.post, kTrials, bound_.extents.dims, leaf);
    }

    const BoundDefinition& bound_;
    std::mt19937_64 random_{20240607};
    std::vector<double> marks_;
    std::vector<std::pair<ExprPtr, Column>> drawn_;
};

}  // namespace

bool post_takes_identity(const BoundDefinition& bound) {
    return !bound.definition.post || Sampler(bound).takes(identity(bound.definition.monoid));
}

bool post_commutes(const BoundDefinition& bound) {
    const Definition& definition = bound.definition;
    if (!definition.post) return true;
    if (!is_defined(bound)) return false;
    AlgebraOptions options;
    options.only_where_defined = true;
    options.folded = domain(bound);
    BoundDefinition unconditional = bound;
    unconditional.definition.where = nullptr;
    const ExecutedIterations everywhere(unconditional, whole_box(bound));
    options.constant_read = [&](const Read& read) -> std::optional<double> {
        if (reaches_anything(unconditional, everywhere, read.tensor, read.coordinates)) return std::nullopt;
        return 0.0;
    };
    Algebra algebra(bound, options);
    const Polynomial post = algebra.normal_form(definition.post);
    const auto depends_on_folded = [](const AlgebraAtom& atom) {
        return atom.kind == AlgebraAtom::Kind::kFolded ? Dependence::kLinear : Dependence::kNone;
    };
    switch (definition.monoid) {
        case Monoid::kSum:
            return post.empty() || dependence(algebra, post, depends_on_folded) == Dependence::kLinear;
        case Monoid::kProd:
            return is_multiplicative(algebra, post);
        case Monoid::kMax:
        case Monoid::kMin:
            switch (direction(algebra, post)) {
                case Direction::kConstant:
                case Direction::kIncreasing:
                    return true;
                case Direction::kDecreasing:
                    return false;
                case Direction::kUnknown:
                    return !Sampler(bound).finds_a_fall();
            }
            return false;
        case Monoid::kNone:
        case Monoid::kSoftmaxSum:
        case Monoid::kInOrder:
            break;
    }
    return false;
}

}  // namespace tessera::facts
