#include "search/rules/algebra/formulas.h"

#include <array>
#include <utility>

#include <fmt/core.h>

#include "support/error.h"

namespace tessera::rules {
namespace {

constexpr std::array kOperandNames = {"X", "Z", "W"};

ExprPtr operand(int index) {
    return read(index, {}, true);
}

}  // namespace

Formula formula(std::string_view text, int operands) {
    TESSERA_CHECK(operands >= 1 && static_cast<size_t>(operands) <= kOperandNames.size(), "{}", operands);
    std::string op = "op formula(i: 1)\n";
    for (int k = 0; k < operands; ++k)
        op += fmt::format("in {} f32[i]\n", kOperandNames.at(static_cast<size_t>(k)));
    const Definition definition = parse_definition(op + fmt::format("out Y f32[i] = {}\n", text), "formula");
    const auto taken_out = formula_of(definition.body.front(), definition);
    TESSERA_CHECK(taken_out, "{}", text);
    return *taken_out;
}

Formula bare_read() {
    return {operand(0)};
}

bool is_bare_read(const Formula& formula) {
    return formula == bare_read();
}

std::optional<Formula> formula_of(const ExprPtr& expr, const Definition& definition) {
    bool is_elementwise = true;
    ExprPtr taken_out = with_leaves(expr, [&](const Expr& node) -> ExprPtr {
        const auto* access = std::get_if<Read>(&node.node);
        if (!access) {
            is_elementwise = is_elementwise && !std::holds_alternative<IteratorRef>(node.node) &&
                             !std::holds_alternative<DimRef>(node.node);
            return nullptr;
        }
        const std::vector<ExprPtr>& map = definition.tensors[static_cast<size_t>(access->tensor)].map;
        is_elementwise = is_elementwise && same(read(access->tensor, access->coordinates, true),
                                                read(access->tensor, map, true));
        return operand(access->tensor);
    });
    if (!is_elementwise) return std::nullopt;
    return Formula{std::move(taken_out)};
}

const Apply* call_of(const ExprPtr& expr, Function function) {
    const auto* call = std::get_if<Apply>(&expr->node);
    return call && call->function == function ? call : nullptr;
}

ExprPtr with_leaves(const ExprPtr& expr, const std::function<ExprPtr(const Expr&)>& replace) {
    if (!expr) return expr;
    if (ExprPtr other = replace(*expr)) return other;
    if (const auto* call = std::get_if<Apply>(&expr->node)) {
        std::vector<ExprPtr> arguments;
        for (const ExprPtr& argument : call->arguments) arguments.push_back(with_leaves(argument, replace));
        return apply(call->function, std::move(arguments));
    }
    if (const auto* to = std::get_if<Cast>(&expr->node))
        return cast(to->to, with_leaves(to->argument, replace));
    return expr;
}

ExprPtr with_reads(const ExprPtr& expr, const std::function<ExprPtr(const Read&)>& replace) {
    return with_leaves(expr, [&](const Expr& node) -> ExprPtr {
        const auto* access = std::get_if<Read>(&node.node);
        return access ? replace(*access) : nullptr;
    });
}

ExprPtr with_folded(const ExprPtr& post, const ExprPtr& folded) {
    return with_leaves(
        post, [&](const Expr& node) { return std::holds_alternative<Folded>(node.node) ? folded : nullptr; });
}

}  // namespace tessera::rules
