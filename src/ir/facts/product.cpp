#include "ir/facts/product.h"

#include "ir/iterator_use.h"

namespace tessera::facts {
namespace {

void append_factors(const ExprPtr& expr, Casts casts, std::vector<ExprPtr>& out) {
    const ExprPtr& e = below_casts(expr, casts);
    const auto* call = std::get_if<Apply>(&e->node);
    if (!call || call->function != Function::kMul) {
        out.push_back(e);
        return;
    }
    for (const ExprPtr& argument : call->arguments) append_factors(argument, casts, out);
}

bool is_element(const ExprPtr& expr) {
    return std::holds_alternative<Read>(expr->node);
}

}  // namespace

const ExprPtr& below_casts(const ExprPtr& expr, Casts casts) {
    const auto* cast = std::get_if<Cast>(&expr->node);
    const bool counts = cast && casts == Casts::kToF32 && cast->to != ElementType::kF32;
    return cast && !counts ? below_casts(cast->argument, casts) : expr;
}

std::vector<ExprPtr> factors_of(const ExprPtr& expr, Casts casts) {
    std::vector<ExprPtr> factors;
    append_factors(expr, casts, factors);
    return factors;
}

std::vector<ExprPtr> summed_factors(const Definition& definition, Casts casts) {
    return definition.monoid == Monoid::kSum ? factors_of(definition.body.front(), casts)
                                             : std::vector<ExprPtr>{};
}

std::optional<std::pair<ExprPtr, ExprPtr>> two_factors(const Definition& definition) {
    if (definition.monoid == Monoid::kSoftmaxSum) {
        const ExprPtr& value = below_casts(definition.body[1], Casts::kAll);
        if (!is_element(value)) return std::nullopt;
        return std::pair(definition.body[0], value);
    }
    const std::vector<ExprPtr> factors = summed_factors(definition, Casts::kAll);
    if (factors.size() != 2 || !is_element(factors[0]) || !is_element(factors[1])) return std::nullopt;
    return std::pair(factors[0], factors[1]);
}

ProductRoles product_roles(const Definition& definition, const std::vector<int>& left,
                           const std::vector<int>& right) {
    std::vector<int> kept;
    for (const int result : definition.results())
        for (const int x : iterators_in(definition.tensors[static_cast<size_t>(result)].map))
            kept.push_back(x);
    ProductRoles roles;
    for (int x = 0; x < static_cast<int>(definition.iterators.size()); ++x) {
        const bool of_left = contains(left, x), of_right = contains(right, x), is_kept = contains(kept, x);
        if (of_left && of_right && !is_kept)
            roles.summed.push_back(x);
        else if (is_kept && of_left && !of_right)
            roles.rows.push_back(x);
        else if (is_kept && of_right && !of_left)
            roles.columns.push_back(x);
        else
            roles.batch.push_back(x);
    }
    return roles;
}

}  // namespace tessera::facts
