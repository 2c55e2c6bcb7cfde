#include "ir/facts/exact_casts.h"

namespace tessera::facts {
namespace {

// The type that an expression counts as (zoo notation, sbp and linear).
ElementType counted(const Definition& d, const ExprPtr& expr) {
    if (const auto* cast = std::get_if<Cast>(&expr->node)) return cast->to;
    if (const auto* read = std::get_if<Read>(&expr->node))
        return d.tensors[static_cast<size_t>(read->tensor)].type;
    if (std::holds_alternative<Folded>(expr->node)) return d.accumulator;
    if (std::holds_alternative<Infinity>(expr->node)) return ElementType::kF32;
    if (const auto* n = std::get_if<Number>(&expr->node))
        return n->is_integer ? ElementType::kI32 : ElementType::kF32;
    const auto* call = std::get_if<Apply>(&expr->node);
    if (!call) return ElementType::kI32;
    const Function f = call->function;
    if (f >= Function::kLess && f <= Function::kOr) return ElementType::kI32;
    if (is_special(f) || f == Function::kDivide) return ElementType::kF32;
    for (size_t i = f == Function::kSelect ? 1 : 0; i < call->arguments.size(); ++i)
        if (!is_integer(counted(d, call->arguments[i]))) return ElementType::kF32;
    return ElementType::kI32;
}

ExprPtr dropped(const Definition& d, const ExprPtr& expr) {
    if (!expr) return expr;
    if (const auto* c = std::get_if<Cast>(&expr->node)) {
        const ExprPtr inner = dropped(d, c->argument);
        return is_exact_cast(counted(d, c->argument), c->to) ? inner : cast(c->to, inner);
    }
    const auto* call = std::get_if<Apply>(&expr->node);
    if (!call) return expr;
    std::vector<ExprPtr> arguments;
    for (const ExprPtr& argument : call->arguments) arguments.push_back(dropped(d, argument));
    return apply(call->function, std::move(arguments));
}

}  // namespace

Definition without_exact_casts(const Definition& definition) {
    Definition plain = definition;
    for (ExprPtr& part : plain.body) part = dropped(definition, part);
    plain.post = dropped(definition, plain.post);
    return plain;
}

}  // namespace tessera::facts
