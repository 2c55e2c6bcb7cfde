#include "kernels/micro_kernel.h"

#include <algorithm>
#include <array>

namespace tessera {
namespace {

/// What stands below casts to F32, in which compiled code computes; other casts round.
const Expr* below_casts(const ExprPtr& expr) {
    const Expr* e = expr.get();
    for (const auto* cast = std::get_if<Cast>(&e->node); cast && cast->to == ElementType::kF32;
         cast = std::get_if<Cast>(&e->node)) {
        e = cast->argument.get();
    }
    return e;
}

/// The operand below casts; nothing if there is something else.
const Read* operand_below_casts(const ExprPtr& expr) {
    return std::get_if<Read>(&below_casts(expr)->node);
}

std::string anything(const Definition&) {
    return {};
}

std::string sum_of_products(const Definition& definition) {
    if (definition.monoid != Monoid::kSum) return "its monoid is not sum";
    if (!factors_of(definition)) return "its body is not a product of two operands";
    return {};
}

std::string streaming_softmax(const Definition& definition) {
    return definition.monoid == Monoid::kSoftmaxSum ? "" : "its monoid is not softmax_sum";
}

}  // namespace

std::optional<Factors> factors_of(const Definition& definition) {
    if (definition.monoid != Monoid::kSum) return std::nullopt;
    const auto* product = std::get_if<Apply>(&below_casts(definition.body.front())->node);
    if (!product || product->function != Function::kMul) return std::nullopt;
    const Read* left = operand_below_casts(product->arguments[0]);
    const Read* right = operand_below_casts(product->arguments[1]);
    if (!left || !right || left->tensor == right->tensor) return std::nullopt;
    const auto is_operand = [&](const Read* r) {
        return definition.tensors[static_cast<size_t>(r->tensor)].role == Role::kIn;
    };
    if (!is_operand(left) || !is_operand(right)) return std::nullopt;
    return Factors{*left, *right};
}

std::span<const MicroKernel> micro_kernels() {
    static const std::array kernels = {
        MicroKernel{.name = "loops",
                    .summary = "plain loops over the body, with lanes along iterator x",
                    .parameters = {{"x", "iterator of the lanes; none: scalars", true, false},
                                   {"lanes", "lanes of a vector", false, false}},
                    .tiles_reductions = true,
                    .why_not = anything},
        MicroKernel{.name = "contract",
                    .summary = "register-blocked C[m,n] = sum_k A[m,k] B[n,k], lanes along n",
                    .parameters = {{"m", "iterator of A and C; none: one row", true, false},
                                   {"n", "iterator of B and C", true, true},
                                   {"k", "reduction iterator of A and B", true, true},
                                   {"lanes", "lanes of a vector", false, false},
                                   {"rows", "rows in registers", false, false},
                                   {"groups", "groups of lanes in registers", false, false}},
                    .tiles_reductions = true,
                    .why_not = sum_of_products},
        MicroKernel{.name = "dot",
                    .summary = "register-blocked C[m,n] = sum_k A[m,k] B[n,k], lanes along k",
                    .parameters = {{"m", "iterator of A and C; none: one row", true, false},
                                   {"n", "iterator of B and C", true, true},
                                   {"k", "reduction iterator of A and B", true, true},
                                   {"lanes", "lanes of a vector", false, false},
                                   {"rows", "rows in registers", false, false},
                                   {"columns", "columns in registers", false, false}},
                    .tiles_reductions = true,
                    .why_not = sum_of_products},
        MicroKernel{
            .name = "stream",
            .summary =
                "one tile of a streaming softmax with its values, lanes along d and along the positions",
            .parameters = {{"m", "iterator of the rows; none: one row", true, false},
                           {"d", "iterator of the values alone", true, true},
                           {"lanes", "lanes of a vector", false, false},
                           {"rows", "rows in registers", false, false},
                           {"groups", "groups of lanes in registers", false, false}},
            .tiles_reductions = true,
            .why_not = streaming_softmax},
    };
    return kernels;
}

const MicroKernel* find_micro_kernel(std::string_view name) {
    const auto all = micro_kernels();
    const auto at =
        std::find_if(all.begin(), all.end(), [&](const MicroKernel& k) { return k.name == name; });
    return at == all.end() ? nullptr : &*at;
}

}  // namespace tessera
