#include "ir/body_value.h"

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "support/error.h"

namespace tessera {
namespace {

/// Quotient and remainder as defined for floor division: a = quotient * b + remainder, both exact where
/// representable.
std::pair<double, double> floor_divide(double a, double b) {
    if (b == 0) return {a / b, std::fmod(a, b)};
    double remainder = std::fmod(a, b);
    double quotient = (a - remainder) / b;
    if (remainder == 0) {
        remainder = std::copysign(0.0, b);
    } else if ((b < 0) != (remainder < 0)) {
        remainder += b;
        quotient -= 1;
    }
    // The division above may have rounded up to the next integer or below it.
    double whole = std::floor(quotient);
    if (quotient - whole > 0.5) whole += 1;
    return {whole, remainder};
}

/// An operation on the bits of integers; a number that is none gives NaN.
template <typename Operation>
double of_bits(double a, double b, Operation&& operation) {
    const auto is_whole = [](double x) { return std::fabs(x) < 0x1p63 && std::trunc(x) == x; };
    if (!is_whole(a) || !is_whole(b)) return NAN;
    const uint64_t bits = operation(static_cast<uint64_t>(static_cast<int64_t>(a)),
                                    static_cast<uint64_t>(static_cast<int64_t>(b)));
    return static_cast<double>(static_cast<int64_t>(bits));
}

}  // namespace

double smallest(double a, double b) {
    return std::isnan(a) || a < b ? a : std::isnan(b) || b < a ? b : a;
}

double largest(double a, double b) {
    return std::isnan(a) || a > b ? a : std::isnan(b) || b > a ? b : a;
}

double fold(Monoid monoid, double a, double b) {
    switch (monoid) {
        case Monoid::kSum:
            return a + b;
        case Monoid::kProd:
            return a * b;
        case Monoid::kMax:
            return largest(a, b);
        case Monoid::kMin:
            return smallest(a, b);
        case Monoid::kNone:
        case Monoid::kSoftmaxSum:
        case Monoid::kInOrder:
            break;
    }
    TESSERA_CHECK(false, "{} does not fold two numbers", name(monoid));
    return 0;
}

double floor_div(double a, double b) {
    return floor_divide(a, b).first;
}

double floor_mod(double a, double b) {
    return floor_divide(a, b).second;
}

double apply_function(Function function, std::span<const double> x) {
    switch (function) {
        case Function::kAdd:
            return x[0] + x[1];
        case Function::kSub:
            return x[0] - x[1];
        case Function::kMul:
            return x[0] * x[1];
        case Function::kDivide:
            return x[0] / x[1];
        case Function::kFloorDiv:
            return floor_div(x[0], x[1]);
        case Function::kMod:
            return floor_mod(x[0], x[1]);
        case Function::kNegate:
            return -x[0];
        case Function::kMin:
            return smallest(x[0], x[1]);
        case Function::kMax:
            return largest(x[0], x[1]);
        case Function::kAbs:
            return std::fabs(x[0]);
        case Function::kRound:
            return std::nearbyint(x[0]);  // the default rounding mode: ties to even
        case Function::kPow:
            return std::pow(x[0], x[1]);
        case Function::kBitAnd:
            return of_bits(x[0], x[1], [](uint64_t a, uint64_t b) { return a & b; });
        case Function::kBitOr:
            return of_bits(x[0], x[1], [](uint64_t a, uint64_t b) { return a | b; });
        case Function::kBitXor:
            return of_bits(x[0], x[1], [](uint64_t a, uint64_t b) { return a ^ b; });
        case Function::kBitNot:
            return of_bits(x[0], 0, [](uint64_t a, uint64_t) { return ~a; });
        case Function::kShiftLeft:
            return of_bits(x[0], x[1], [](uint64_t a, uint64_t b) { return b < 64 ? a << b : 0; });
        case Function::kShiftRight:
            return of_bits(x[0], x[1], [](uint64_t a, uint64_t b) { return b < 64 ? a >> b : 0; });
        case Function::kExp:
            return std::exp(x[0]);
        case Function::kLog:
            return std::log(x[0]);
        case Function::kSqrt:
            return std::sqrt(x[0]);
        case Function::kRsqrt:
            return 1 / std::sqrt(x[0]);
        case Function::kTanh:
            return std::tanh(x[0]);
        case Function::kErf:
            return std::erf(x[0]);
        case Function::kSin:
            return std::sin(x[0]);
        case Function::kCos:
            return std::cos(x[0]);
        case Function::kTan:
            return std::tan(x[0]);
        case Function::kAsin:
            return std::asin(x[0]);
        case Function::kAcos:
            return std::acos(x[0]);
        case Function::kAtan:
            return std::atan(x[0]);
        case Function::kSinh:
            return std::sinh(x[0]);
        case Function::kCosh:
            return std::cosh(x[0]);
        case Function::kAsinh:
            return std::asinh(x[0]);
        case Function::kAcosh:
            return std::acosh(x[0]);
        case Function::kAtanh:
            return std::atanh(x[0]);
        case Function::kSigmoid:
            return 1 / (1 + std::exp(-x[0]));
        case Function::kLess:
            return x[0] < x[1];
        case Function::kLessEqual:
            return x[0] <= x[1];
        case Function::kGreater:
            return x[0] > x[1];
        case Function::kGreaterEqual:
            return x[0] >= x[1];
        case Function::kEqual:
            return x[0] == x[1];
        case Function::kNotEqual:
            return x[0] != x[1];
        case Function::kAnd:
            return x[0] != 0 && x[1] != 0;
        case Function::kOr:
            return x[0] != 0 || x[1] != 0;
        case Function::kNot:
            return x[0] == 0;
        case Function::kSelect:
            return x[0] != 0 ? x[1] : x[2];
    }
    TESSERA_CHECK(false, "function {}", static_cast<int>(function));
    return 0;
}

BodyValue::BodyValue(const Definition& definition, const BoundExtents& extents,
                     const std::vector<TensorData>& tensors, const std::string& where,
                     const HeldElements* held)
    : iterators(definition.iterators.size(), 0),
      definition_(definition),
      extents_(extents),
      tensors_(tensors),
      where_(where),
      held_(held) {
    scope_.dims = extents_.dims;
    scope_.iterators = iterators;
    scope_.read = [this](const Read& read) { return read_index(read); };
}

double BodyValue::value(const Expr& expr) const {
    return evaluate(expr).value;
}

BodyValue::Evaluated BodyValue::evaluate(const Expr& expr) const {
    struct Visitor {
        const BodyValue& at;
        Evaluated operator()(const Number& number) const { return {number.value, number.is_integer}; }
        Evaluated operator()(const Infinity&) const { return {INFINITY, false}; }
        Evaluated operator()(const IteratorRef& iterator) const {
            return {static_cast<double>(at.iterators[static_cast<size_t>(iterator.index)]), true};
        }
        Evaluated operator()(const DimRef& dim) const {
            return {static_cast<double>(at.extents_.dims[static_cast<size_t>(dim.index)]), true};
        }
        Evaluated operator()(const FillPosition&) const {
            TESSERA_CHECK(false, "`i` of a fill stands in a body");
            return {};
        }
        Evaluated operator()(const Folded&) const { return {at.folded, false}; }
        Evaluated operator()(const Read& read) const {
            return {at.read(read),
                    at.definition_.tensors[static_cast<size_t>(read.tensor)].role == Role::kIndex};
        }
        Evaluated operator()(const Cast& cast) const {
            const Evaluated argument = at.evaluate(*cast.argument);
            return {round_to(cast.to, argument.value), argument.is_integer && is_integer(cast.to)};
        }
        Evaluated operator()(const Apply& apply) const {
            std::array<double, 3> arguments{};
            bool is_integer = gives_integers_of_integers(apply.function);
            for (size_t i = 0; i < apply.arguments.size(); ++i) {
                const Evaluated argument = at.evaluate(*apply.arguments[i]);
                arguments[i] = argument.value;
                const bool is_condition = apply.function == Function::kSelect && i == 0;
                is_integer = is_integer && (is_condition || argument.is_integer);
            }
            const double result = apply_function(apply.function, arguments);
            return {is_integer ? result + 0.0 : result, is_integer};
        }
    };
    return std::visit(Visitor{*this}, expr.node);
}

int64_t BodyValue::coordinate(const Expr& component) const {
    return integer_value(component, scope_, where_);
}

std::optional<int64_t> BodyValue::position(int tensor, const std::vector<ExprPtr>& coordinates) const {
    const std::vector<int64_t>& shape = extents_.shapes[static_cast<size_t>(tensor)];
    int64_t position = 0;
    bool is_inside = true;
    for (size_t axis = 0; axis < coordinates.size(); ++axis) {
        const int64_t coordinate = this->coordinate(*coordinates[axis]);
        is_inside = is_inside && 0 <= coordinate && coordinate < shape[axis];
        if (is_inside) position = position * shape[axis] + coordinate;
    }
    return is_inside ? std::optional(position) : std::nullopt;
}

double BodyValue::read(const Read& read) const {
    const TensorData& data = tensors_[static_cast<size_t>(read.tensor)];
    if (definition_.tensors[static_cast<size_t>(read.tensor)].role == Role::kIndex) {
        return static_cast<double>(read_index(read));
    }
    const std::optional<int64_t> at = position(read.tensor, read.coordinates);
    if (!at) return outside;
    check_held(read, *at);
    return data.values[static_cast<size_t>(*at)];
}

void BodyValue::check_held(const Read& read, int64_t position) const {
    if (!held_) return;
    const std::vector<bool>& held = (*held_)[static_cast<size_t>(read.tensor)];
    if (held.empty() || held[static_cast<size_t>(position)]) return;
    std::vector<int64_t> at;
    for (const ExprPtr& component : read.coordinates) at.push_back(coordinate(*component));
    throw Error(where_, definition_.tensors[static_cast<size_t>(read.tensor)].name,
                fmt::format("is read at [{}], which is not there, {}", fmt::join(at, ", "), iteration()));
}

int64_t BodyValue::read_index(const Read& read) const {
    const std::optional<int64_t> at = position(read.tensor, read.coordinates);
    if (!at) {
        throw Error(
            where_, definition_.tensors[static_cast<size_t>(read.tensor)].name,
            fmt::format("is read outside of its shape [{}] {}",
                        fmt::join(extents_.shapes[static_cast<size_t>(read.tensor)], ", "), iteration()),
            "an index operand must be read within its shape");
    }
    check_held(read, *at);
    return static_cast<int64_t>(tensors_[static_cast<size_t>(read.tensor)].values[static_cast<size_t>(*at)]);
}

std::string BodyValue::iteration() const {
    std::string text;
    for (size_t i = 0; i < iterators.size(); ++i) {
        text += fmt::format("{}{} = {}", text.empty() ? "at " : ", ", definition_.iterators[i].name,
                            iterators[i]);
    }
    return text;
}

}  // namespace tessera
