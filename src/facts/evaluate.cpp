#include "facts/evaluate.h"

#include <cmath>
#include <limits>

#include "support/error.h"

namespace tessera::facts {
namespace {

// numpy's minimum and maximum: what is no number stays none.
double least(double a, double b) { return std::isnan(a) || a < b ? a : b; }
double greatest(double a, double b) { return std::isnan(a) || a > b ? a : b; }

// A column of one entry stands for as many equal ones.
double at(const Column& column, size_t row) { return column.size() == 1 ? column[0] : column[row]; }

Column evaluate(const ExprPtr& expr, size_t rows, const std::vector<int64_t>& dims, const LeafColumn& leaf) {
    if (const auto* n = std::get_if<Number>(&expr->node)) return {n->value};
    if (std::holds_alternative<Infinity>(expr->node)) return {std::numeric_limits<double>::infinity()};
    if (const auto* d = std::get_if<DimRef>(&expr->node))
        return {static_cast<double>(dims[static_cast<size_t>(d->index)])};
    if (const auto* c = std::get_if<Cast>(&expr->node)) {
        Column column = evaluate(c->argument, rows, dims, leaf);
        for (double& value : column) value = round_to(c->to, value);
        return column;
    }
    if (const auto* a = std::get_if<Apply>(&expr->node)) {
        std::vector<Column> arguments;
        size_t height = 1;
        for (const ExprPtr& argument : a->arguments) {
            arguments.push_back(evaluate(argument, rows, dims, leaf));
            if (arguments.back().size() > 1) height = rows;
        }
        arguments.resize(3, Column{0});
        Column result(height);
        for (size_t row = 0; row < height; ++row)
            result[row] = apply_function(a->function, at(arguments[0], row), at(arguments[1], row),
                                         at(arguments[2], row));
        return result;
    }
    return leaf(*expr);
}

}  // namespace

double apply_function(Function function, double a, double b, double c) {
    switch (function) {
        case Function::kAdd: return a + b;
        case Function::kSub: return a - b;
        case Function::kMul: return a * b;
        case Function::kDivide: return a / b;
        case Function::kFloorDiv: return std::floor(a / b);
        case Function::kMod: return a - b * std::floor(a / b);
        case Function::kNegate: return -a;
        case Function::kMin: return least(a, b);
        case Function::kMax: return greatest(a, b);
        case Function::kAbs: return std::abs(a);
        case Function::kRound: return std::nearbyint(a);
        case Function::kExp: return std::exp(a);
        case Function::kLog: return std::log(a);
        case Function::kSqrt: return std::sqrt(a);
        case Function::kRsqrt: return 1 / std::sqrt(a);
        case Function::kTanh: return std::tanh(a);
        case Function::kErf: return std::erf(a);
        case Function::kSigmoid: return 1 / (1 + std::exp(-a));
        case Function::kLess: return a < b;
        case Function::kLessEqual: return a <= b;
        case Function::kGreater: return a > b;
        case Function::kGreaterEqual: return a >= b;
        case Function::kEqual: return a == b;
        case Function::kNotEqual: return a != b;
        case Function::kAnd: return a != 0 && b != 0;
        case Function::kOr: return a != 0 || b != 0;
        case Function::kNot: return a == 0;
        case Function::kSelect: return a != 0 ? b : c;
    }
    TESSERA_CHECK(false, "function {}", static_cast<int>(function));
    return 0;
}

Column evaluate_column(const ExprPtr& expr, size_t rows, const std::vector<int64_t>& dims, const LeafColumn& leaf) {
    Column column = evaluate(expr, rows, dims, leaf);
    if (column.size() != rows) column.assign(rows, column.at(0));
    return column;
}

}  // namespace tessera::facts
