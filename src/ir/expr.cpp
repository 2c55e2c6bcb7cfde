#include "ir/expr.h"

#include <algorithm>
#include <array>
#include <utility>

#include "support/error.h"

namespace tessera {
namespace {

constexpr std::array<std::string_view, kFunctions> kFunctionNames = {
    "+",     "-",     "*",      "/",     "div",    "mod",     "-",          "min",         "max",  "abs",
    "round", "pow",   "bitand", "bitor", "bitxor", "bitnot",  "shift_left", "shift_right", "exp",  "log",
    "sqrt",  "rsqrt", "tanh",   "erf",   "sin",    "cos",     "tan",        "asin",        "acos", "atan",
    "sinh",  "cosh",  "asinh",  "acosh", "atanh",  "sigmoid", "<",          "<=",          ">",    ">=",
    "==",    "!=",    "and",    "or",    "not",    "select"};

ExprPtr make(auto node) {
    return std::make_shared<const Expr>(Expr{std::move(node)});
}

bool same_all(const std::vector<ExprPtr>& a, const std::vector<ExprPtr>& b) {
    return std::ranges::equal(a, b, [](const ExprPtr& x, const ExprPtr& y) { return same(x, y); });
}

}  // namespace

ExprPtr number(int64_t value) {
    return make(Number{static_cast<double>(value), true});
}

ExprPtr real(double value) {
    return make(Number{value, false});
}

ExprPtr infinity() {
    return make(Infinity{});
}

ExprPtr iterator_ref(int index) {
    return make(IteratorRef{index});
}

ExprPtr dim_ref(int index) {
    return make(DimRef{index});
}

ExprPtr fill_position() {
    return make(FillPosition{});
}

ExprPtr folded() {
    return make(Folded{});
}

ExprPtr read(int tensor, std::vector<ExprPtr> coordinates, bool declared_map) {
    return make(Read{tensor, declared_map, std::move(coordinates)});
}

ExprPtr apply(Function function, std::vector<ExprPtr> arguments) {
    if (function == Function::kNegate) {
        // A negative literal has one form only, so that what is printed parses back to the same tree.
        if (const auto* literal = std::get_if<Number>(&arguments.front()->node)) {
            const bool is_integer_zero = literal->is_integer && literal->value == 0;
            return make(Number{is_integer_zero ? 0.0 : -literal->value, literal->is_integer});
        }
    }
    return make(Apply{function, std::move(arguments)});
}

ExprPtr cast(ElementType to, ExprPtr argument) {
    return make(Cast{to, std::move(argument)});
}

bool is_comparison(Function function) {
    return function >= Function::kLess && function <= Function::kNotEqual;
}

bool gives_integers_of_integers(Function function) {
    switch (function) {
        case Function::kAdd:
        case Function::kSub:
        case Function::kMul:
        case Function::kFloorDiv:
        case Function::kMod:
        case Function::kNegate:
        case Function::kMin:
        case Function::kMax:
        case Function::kAbs:
        case Function::kRound:
        case Function::kSelect:
            return true;
        default:
            return is_of_bits(function);
    }
}

std::string_view name(Function function) {
    return kFunctionNames.at(static_cast<size_t>(function));
}

bool is_special(Function function) {
    return Function::kExp <= function && function <= Function::kSigmoid;
}

bool is_called(Function function) {
    return (Function::kMin <= function && function <= Function::kSigmoid) || function == Function::kSelect;
}

bool is_of_bits(Function function) {
    return Function::kBitAnd <= function && function <= Function::kShiftRight;
}

bool is_wide(Function function) {
    return function == Function::kPow || is_of_bits(function) ||
           (Function::kSin <= function && function <= Function::kAtanh);
}

int arity(Function function) {
    switch (function) {
        case Function::kSelect:
            return 3;
        case Function::kNegate:
        case Function::kAbs:
        case Function::kRound:
        case Function::kNot:
        case Function::kBitNot:
            return 1;
        default:
            return is_special(function) ? 1 : 2;
    }
}

bool same(const ExprPtr& a, const ExprPtr& b) {
    if (a == b) return true;
    if (!a || !b || a->node.index() != b->node.index()) return false;
    return std::visit(
        [&](const auto& left) {
            using Node = std::decay_t<decltype(left)>;
            const auto& right = std::get<Node>(b->node);
            if constexpr (std::is_same_v<Node, Read>) {
                return left.tensor == right.tensor && same_all(left.coordinates, right.coordinates);
            } else if constexpr (std::is_same_v<Node, Apply>) {
                return left.function == right.function && same_all(left.arguments, right.arguments);
            } else if constexpr (std::is_same_v<Node, Cast>) {
                return left.to == right.to && same(left.argument, right.argument);
            } else {
                return left == right;
            }
        },
        a->node);
}

std::vector<ExprPtr> children(const Expr& expr) {
    if (const auto* read_node = std::get_if<Read>(&expr.node)) return read_node->coordinates;
    if (const auto* apply_node = std::get_if<Apply>(&expr.node)) return apply_node->arguments;
    if (const auto* cast_node = std::get_if<Cast>(&expr.node)) return {cast_node->argument};
    return {};
}

}  // namespace tessera
