#include "ir/facts/monotone.h"

// max(y, 0) * max(y, 0) / n     factors that grow and are never negative: grows, if n is not negative
// y * scale                     unknown: the sign of an f32 operand is any; y * u8 grows
// y * sigmoid(y)                unknown: y has either sign

namespace tessera::facts {
namespace {

Direction flipped(Direction d) {
    if (d == Direction::kIncreasing) return Direction::kDecreasing;
    if (d == Direction::kDecreasing) return Direction::kIncreasing;
    return d;
}

// The direction of a sum.
Direction together(Direction a, Direction b) {
    if (a == Direction::kConstant) return b;
    if (b == Direction::kConstant || a == b) return a;
    return Direction::kUnknown;
}

struct Factor {
    Direction direction;
    ValueRange range;
};

// The product of two factors; at most one of them may change its sign, and that one only beside a constant.
Factor product(Factor a, Factor b) {
    bool flip = false;
    for (Factor* f : {&a, &b})
        if (f->range.high <= 0) {
            *f = {flipped(f->direction), negated(f->range)};
            flip = !flip;
        }
    const bool a_signed = a.range.low < 0;
    const bool b_signed = b.range.low < 0;
    Direction result = Direction::kUnknown;
    if (a.direction == Direction::kConstant && b.direction == Direction::kConstant)
        result = Direction::kConstant;
    else if (a.direction == Direction::kConstant && !a_signed)
        result = b.direction;
    else if (b.direction == Direction::kConstant && !b_signed)
        result = a.direction;
    else if (!a_signed && !b_signed)
        result = together(a.direction, b.direction);
    const ValueRange range = facts::product(a.range, b.range);
    return flip ? Factor{flipped(result), negated(range)} : Factor{result, range};
}

Direction of_call(const Algebra& algebra, const AlgebraAtom& atom) {
    const Direction first = direction(algebra, atom.arguments[0]);
    const Direction second =
        atom.arguments.size() > 1 ? direction(algebra, atom.arguments[1]) : Direction::kConstant;
    if (first == Direction::kConstant && second == Direction::kConstant) return Direction::kConstant;
    switch (atom.function) {
        case Function::kExp:
        case Function::kLog:
        case Function::kSqrt:
        case Function::kTanh:
        case Function::kErf:
        case Function::kSigmoid:
        case Function::kRound:
            return first;
        case Function::kMin:
        case Function::kMax:
            return together(first, second);
        case Function::kGreater:
        case Function::kGreaterEqual:
            return together(first, flipped(second));
        case Function::kLess:
        case Function::kLessEqual:
            return together(flipped(first), second);
        case Function::kFloorDiv: {
            const ValueRange divisor = algebra.range_of(atom.arguments[1]);
            if (second != Direction::kConstant) return Direction::kUnknown;
            return divisor.low >= 0 ? first : divisor.high <= 0 ? flipped(first) : Direction::kUnknown;
        }
        default:
            return Direction::kUnknown;
    }
}

Factor of_atom(const Algebra& algebra, int id, int exponent) {
    const AlgebraAtom& atom = algebra.atom(id);
    Factor base{Direction::kConstant, atom.range};
    if (atom.kind == AlgebraAtom::Kind::kFolded) {
        base.direction = Direction::kIncreasing;
    } else if (atom.kind == AlgebraAtom::Kind::kCast) {
        base.direction = direction(algebra, atom.arguments[0]);
    } else if (atom.kind == AlgebraAtom::Kind::kInverse) {
        const ValueRange of = algebra.range_of(atom.arguments[0]);
        base.direction = flipped(direction(algebra, atom.arguments[0]));
        if (base.direction != Direction::kConstant && of.low < 0 && of.high > 0)
            base.direction = Direction::kUnknown;
    } else if (atom.kind == AlgebraAtom::Kind::kCall) {
        base.direction = of_call(algebra, atom);
    }
    const bool has_sign = atom.range.low < 0 && atom.range.high > 0;
    const ValueRange range = algebra.range_of(Monomial{{id, exponent}}, 1);
    if (base.direction == Direction::kConstant) return {base.direction, range};
    Direction result = base.direction;
    if (exponent % 2 == 0) {
        if (has_sign) result = Direction::kUnknown;
        if (atom.range.high <= 0) result = flipped(result);
    }
    if (exponent < 0) result = has_sign ? Direction::kUnknown : flipped(result);
    return {result, range};
}

}  // namespace

Direction direction(const Algebra& algebra, const Polynomial& p) {
    Direction total = Direction::kConstant;
    for (const auto& [monomial, coefficient] : p) {
        // Constant factors first: together they may have a sign that they do not have alone (w * w is one
        // atom squared).
        Factor constant{Direction::kConstant, {coefficient, coefficient, false}};
        Factor moving{Direction::kConstant, {1, 1, true}};
        for (const auto& [id, exponent] : monomial) {
            const Factor next = of_atom(algebra, id, exponent);
            Factor& to = next.direction == Direction::kConstant ? constant : moving;
            to = product(to, next);
        }
        total = together(total, product(constant, moving).direction);
    }
    return total;
}

}  // namespace tessera::facts
