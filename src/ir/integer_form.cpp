#include "ir/integer_form.h"

#include "ir/integer_value.h"
#include "support/error.h"

namespace tessera {
namespace {

bool gives_integers(Function function) {
    switch (function) {
        case Function::kDivide:
            return false;
        default:
            return !is_special(function) && !is_wide(function);
    }
}

class IntegerForm {
public:
    IntegerForm(const Definition& definition, const ExprPlace& place, bool is_map)
        : definition_(definition), place_(place), is_map_(is_map) {}

    void check_symbolic(const ExprPtr& expr, bool is_fill) const {
        walk(expr, [&](const Expr& node) {
            check_node(node);
            if (std::holds_alternative<IteratorRef>(node.node))
                fail(expr, "uses an iterator, expected dims only");
            if (std::holds_alternative<Read>(node.node)) fail(expr, "reads a tensor, expected dims only");
            if (!is_fill && std::holds_alternative<FillPosition>(node.node))
                fail(expr, "uses the position of a fill");
            return true;
        });
        check_divisors(expr);
    }

    void check_component(const ExprPtr& expr, bool may_read) const {
        if (is_constant(expr)) return check_symbolic(expr, false);
        check_node(*expr);
        if (std::holds_alternative<IteratorRef>(expr->node)) return;
        if (const auto* read = std::get_if<Read>(&expr->node)) {
            const TensorDecl& decl = definition_.tensors[static_cast<size_t>(read->tensor)];
            if (!may_read) fail(expr, "reads a tensor, but the map of an index operand is never indirect");
            if (decl.role != Role::kIndex)
                fail(expr, fmt::format("reads `{}`, but a map reads index operands only", decl.name));
            for (const ExprPtr& coordinate : read->coordinates) check_component(coordinate, may_read);
            return;
        }
        const auto* apply = std::get_if<Apply>(&expr->node);
        if (!apply) fail(expr, "is no sum of iterators");
        check_apply(expr, *apply, may_read);
    }

private:
    void check_apply(const ExprPtr& expr, const Apply& apply, bool may_read) const {
        switch (apply.function) {
            case Function::kNegate:
            case Function::kAdd:
            case Function::kSub:
                break;
            case Function::kMul:
                if (!is_constant(apply.arguments[0]) && !is_constant(apply.arguments[1])) {
                    fail(expr, "multiplies two iterators, expected a constant factor");
                }
                break;
            case Function::kFloorDiv:
            case Function::kMod:
                if (!is_constant(apply.arguments[1]))
                    fail(expr, "divides by an iterator, expected a constant divisor");
                check_divisor(expr, apply.arguments[1]);
                break;
            case Function::kDivide:
                fail(expr, "divides by `/`, expected `div`");
            default:
                fail(expr, fmt::format("applies `{}` to an iterator", name(apply.function)));
        }
        for (const ExprPtr& argument : apply.arguments) check_component(argument, may_read);
    }

    void check_node(const Expr& expr) const {
        const auto* number = std::get_if<Number>(&expr.node);
        if (number && !number->is_integer)
            fail_node(fmt::format("holds the number {}, expected integers",
                                  print(definition_, real(number->value))));
        if (std::holds_alternative<Infinity>(expr.node)) fail_node("holds `inf`, expected integers");
        if (std::holds_alternative<Folded>(expr.node)) fail_node("holds a monoid call");
        const auto* apply = std::get_if<Apply>(&expr.node);
        if (apply && !gives_integers(apply->function)) {
            fail_node(fmt::format("holds `{}`, which gives no integers", name(apply->function)));
        }
        const auto* cast = std::get_if<Cast>(&expr.node);
        if (cast && !is_integer(cast->to))
            fail_node(fmt::format("holds a cast to {}, expected integers", name(cast->to)));
    }

    void check_divisors(const ExprPtr& expr) const {
        walk(expr, [&](const Expr& node) {
            const auto* apply = std::get_if<Apply>(&node.node);
            if (apply && (apply->function == Function::kFloorDiv || apply->function == Function::kMod)) {
                check_divisor(expr, apply->arguments[1]);
            }
            return true;
        });
    }

    /// Dims may make a divisor zero, which shows when they are bound; a written zero shows now.
    void check_divisor(const ExprPtr& expr, const ExprPtr& divisor) const {
        bool is_literal = true;
        walk(divisor, [&](const Expr& node) {
            is_literal &=
                std::holds_alternative<Number>(node.node) || std::holds_alternative<Apply>(node.node);
            return true;
        });
        if (is_literal && integer_value(*divisor, {}, place_.where) == 0) fail(expr, "divides by zero");
    }

    static bool is_constant(const ExprPtr& expr) {
        bool is_free = true;
        walk(expr, [&](const Expr& node) {
            is_free &=
                !std::holds_alternative<IteratorRef>(node.node) && !std::holds_alternative<Read>(node.node);
            return is_free;
        });
        return is_free;
    }

    [[noreturn]] void fail(const ExprPtr& expr, const std::string& problem) const {
        fail_node(fmt::format("`{}` {}", print(definition_, expr), problem));
    }
    [[noreturn]] void fail_node(const std::string& problem) const {
        throw Error(
            place_.where, place_.entity, problem,
            is_map_
                ? "a map is a sum of iterators with constant factors, and div and mod of such by constants"
                : "extents, shapes and fills are integer expressions in dims");
    }

    const Definition& definition_;
    const ExprPlace& place_;
    bool is_map_;
};

}  // namespace

void verify_integer_form(const Definition& definition, const ExprPtr& expr, bool is_fill,
                         const ExprPlace& place) {
    IntegerForm(definition, place, false).check_symbolic(expr, is_fill);
}

void verify_component(const Definition& definition, const ExprPtr& expr, bool may_read,
                      const ExprPlace& place) {
    IntegerForm(definition, place, true).check_component(expr, may_read);
}

}  // namespace tessera
