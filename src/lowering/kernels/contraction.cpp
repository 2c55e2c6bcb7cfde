#include "lowering/kernels/contraction.h"

#include <algorithm>

#include "ir/facts/product.h"

namespace tessera::kernels {
namespace {

ExprPtr product_of(const std::vector<ExprPtr>& factors) {
    ExprPtr product = factors.front();
    for (size_t i = 1; i < factors.size(); ++i) product = apply(Function::kMul, {product, factors[i]});
    return product;
}

bool rounds(const ExprPtr& expr) {
    bool found = false;
    walk(expr, [&](const Expr& e) {
        const auto* cast = std::get_if<Cast>(&e.node);
        found |= cast && cast->to != ElementType::kF32;
        return !found;
    });
    return found;
}

}  // namespace

const Read* Contraction::b_operand() const {
    return std::get_if<Read>(&facts::below_casts(b, facts::Casts::kToF32)->node);
}

std::vector<ExprPtr> factors_of(const Definition& definition) {
    if (definition.monoid == Monoid::kSum && rounds(definition.body.front())) return {};
    return facts::summed_factors(definition, facts::Casts::kToF32);
}

std::vector<Contraction> contractions_of(const Definition& definition) {
    const std::vector<ExprPtr> factors = factors_of(definition);
    if (factors.empty()) return {};
    const auto is_operand = [&](const Read& r) {
        return definition.tensors[static_cast<size_t>(r.tensor)].role == Role::kIn;
    };
    std::vector<Contraction> result;
    for (const ExprPtr& factor : factors) {
        const auto* a = std::get_if<Read>(&factor->node);
        if (!a || !is_operand(*a) || factors.size() < 2) continue;
        std::vector<ExprPtr> others;
        std::copy_if(factors.begin(), factors.end(), std::back_inserter(others),
                     [&](const ExprPtr& other) { return other != factor; });
        if (others.empty()) continue;  // one operand, squared
        Contraction contraction{*a, product_of(others), {}, {}, {}, {}};
        bool reads_a = false;
        for (const Read& read : reads_in({contraction.b})) {
            reads_a |= read.tensor == a->tensor;
            if (is_operand(read)) contraction.b_reads.push_back(read);
        }
        if (reads_a || contraction.b_reads.empty()) continue;
        facts::ProductRoles roles =
            facts::product_roles(definition, iterators_in(a->coordinates), iterators_in(contraction.b));
        contraction.m = std::move(roles.rows);
        contraction.n = std::move(roles.columns);
        contraction.k = std::move(roles.summed);
        if (!contraction.n.empty() && !contraction.k.empty()) result.push_back(std::move(contraction));
    }
    return result;
}

std::optional<Contraction> contraction_by(const Definition& definition, int m, int n, int k) {
    for (Contraction& product : contractions_of(definition))
        if (contains(product.n, n) && contains(product.k, k) && (m < 0 || contains(product.m, m)))
            return std::move(product);
    return std::nullopt;
}

std::string why_no_contraction(const Definition& definition) {
    if (definition.monoid != Monoid::kSum) return "its monoid is not sum";
    if (contractions_of(definition).empty()) return "its body is no product of an operand and others";
    return {};
}

}  // namespace tessera::kernels
