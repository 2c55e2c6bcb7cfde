#include "kernels/contraction.h"

#include <algorithm>

#include "ir/iterator_use.h"

namespace tessera::kernels {
namespace {

/// The expression below casts to F32, in which compiled code computes; other casts round.
const ExprPtr& below_casts(const ExprPtr& expr) {
    const auto* cast = std::get_if<Cast>(&expr->node);
    return cast && cast->to == ElementType::kF32 ? below_casts(cast->argument) : expr;
}

void append_factors(const ExprPtr& expr, std::vector<ExprPtr>& out) {
    const ExprPtr& e = below_casts(expr);
    const auto* call = std::get_if<Apply>(&e->node);
    if (!call || call->function != Function::kMul) {
        out.push_back(e);
        return;
    }
    for (const ExprPtr& argument : call->arguments) append_factors(argument, out);
}

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
    return std::get_if<Read>(&below_casts(b)->node);
}

std::vector<ExprPtr> factors_of(const Definition& definition) {
    std::vector<ExprPtr> factors;
    if (definition.monoid == Monoid::kSum && !rounds(definition.body.front()))
        append_factors(definition.body.front(), factors);
    return factors;
}

std::vector<Contraction> contractions_of(const Definition& definition) {
    const std::vector<ExprPtr> factors = factors_of(definition);
    if (factors.empty()) return {};
    const auto is_operand = [&](const Read& r) {
        return definition.tensors[static_cast<size_t>(r.tensor)].role == Role::kIn;
    };
    const std::vector<int> in_c =
        iterators_in(definition.tensors[static_cast<size_t>(definition.results().front())].map);
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
        const std::vector<int> in_a = iterators_in(a->coordinates), in_b = iterators_in(contraction.b);
        for (int x = 0; x < static_cast<int>(definition.iterators.size()); ++x) {
            const bool of_a = contains(in_a, x), of_b = contains(in_b, x), of_c = contains(in_c, x);
            if (of_a && of_b && !of_c) contraction.k.push_back(x);
            if (of_a && !of_b && of_c) contraction.m.push_back(x);
            if (!of_a && of_b && of_c) contraction.n.push_back(x);
        }
        if (!contraction.n.empty() && !contraction.k.empty()) result.push_back(std::move(contraction));
    }
    return result;
}

std::string why_no_contraction(const Definition& definition) {
    if (definition.monoid != Monoid::kSum) return "its monoid is not sum";
    if (contractions_of(definition).empty()) return "its body is no product of an operand and others";
    return {};
}

}  // namespace tessera::kernels
