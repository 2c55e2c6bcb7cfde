#include "ir/facts/evaluate.h"

#include <limits>

#include "ir/body_value.h"

namespace tessera::facts {
namespace {

// A column of one entry stands for as many equal ones.
double at(const Column& column, size_t row) {
    return column.size() == 1 ? column[0] : column[row];
}

template <typename Operation>
bool combine(const Column& a, const Column& b, Column& result, Operation operation) {
    for (size_t row = 0; row < result.size(); ++row) result[row] = operation(at(a, row), at(b, row));
    return true;
}

// The operations of predicates, a loop for each: predicates may be evaluated hundreds of millions of times.
bool evaluate_fast(Function function, const Column& a, const Column& b, Column& result) {
    switch (function) {
        case Function::kAdd:
            return combine(a, b, result, [](double x, double y) { return x + y; });
        case Function::kSub:
            return combine(a, b, result, [](double x, double y) { return x - y; });
        case Function::kMul:
            return combine(a, b, result, [](double x, double y) { return x * y; });
        case Function::kLess:
            return combine(a, b, result, [](double x, double y) { return x < y; });
        case Function::kLessEqual:
            return combine(a, b, result, [](double x, double y) { return x <= y; });
        case Function::kGreater:
            return combine(a, b, result, [](double x, double y) { return x > y; });
        case Function::kGreaterEqual:
            return combine(a, b, result, [](double x, double y) { return x >= y; });
        case Function::kAnd:
            return combine(a, b, result, [](double x, double y) { return x != 0 && y != 0; });
        default:
            return false;
    }
}

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
        Column result(height);
        if (arguments.size() == 2 && evaluate_fast(a->function, arguments[0], arguments[1], result))
            return result;
        std::vector<double> values(arguments.size());
        for (size_t row = 0; row < height; ++row) {
            for (size_t i = 0; i < values.size(); ++i) values[i] = at(arguments[i], row);
            result[row] = apply_function(a->function, values);
        }
        return result;
    }
    return leaf(*expr);
}

}  // namespace

Column evaluate_column(const ExprPtr& expr, size_t rows, const std::vector<int64_t>& dims,
                       const LeafColumn& leaf) {
    Column column = evaluate(expr, rows, dims, leaf);
    if (column.size() != rows) column.assign(rows, column.at(0));
    return column;
}

}  // namespace tessera::facts
