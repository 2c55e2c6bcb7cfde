#include <algorithm>

#include <fmt/format.h>

#include "import/architecture/functions.h"
#include "import/part_builder.h"
#include "ir/ops/elementwise.h"
#include "ir/ops/experts.h"
#include "support/error.h"

// Expressions of elements. Those that an operator of ir/ops computes are this operator, so that a model is
// the same graph whoever wrote it; others are operators of their own.

namespace tessera::import {
namespace {

bool is_name(const TermPtr& term) {
    return term->kind == Term::Kind::kName;
}

/// The function of `f(x)` with a name as x.
std::optional<ops::ActivationFunction> activation_in(const TermPtr& term) {
    if (term->kind != Term::Kind::kCall || term->arguments.size() != 1 || !is_name(term->arguments[0]))
        return std::nullopt;
    return find_activation(term->name);
}

/// The cap of tanh(x / cap) * cap; 0 for other terms.
double cap_in(const TermPtr& term) {
    if (!term->is_call("*") || !term->arguments[0]->is_call("tanh")) return 0;
    const TermPtr& quotient = term->arguments[0]->arguments[0];
    const TermPtr& cap = term->arguments[1];
    const bool is_capped = quotient->is_call("/") && is_name(quotient->arguments[0]) &&
                           cap->kind == Term::Kind::kNumber && same(cap, quotient->arguments[1]);
    return is_capped ? cap->number : 0;
}

}  // namespace

/// The values and tensors that an expression reads, each once, and their ids in the same order.
std::vector<MapOperand> PartBuilder::operands_of(const PartStep& step, std::vector<ValueId>& ids) {
    std::vector<MapOperand> operands;
    walk(step.term, [&](const Term& each) {
        const bool is_read = each.kind == Term::Kind::kName || each.kind == Term::Kind::kElement;
        if (!is_read || std::ranges::find(operands, each.name, &MapOperand::name) != operands.end()) return;
        const bool is_index = each.kind == Term::Kind::kName &&
                              std::ranges::find(step.indices, each.name) != step.indices.end();
        if (is_index) return;
        if (each.name == "position") {
            if (!step.lines.empty()) return;  // a recurrence counts its tokens itself
            ids.insert(ids.begin(), step_.inputs.position);
            operands.insert(operands.begin(),
                            {each.name, step_.graph[step_.inputs.position].type, true, true});
            return;
        }
        if (part_.tensors.contains(each.name)) {
            const std::vector<ValueId> own = weight(each.name);
            if (own.size() != 1) fail(step, fmt::format("reads {}, which is quantised", each.name));
            operands.push_back({each.name, step_.graph[own[0]].type, false});
            ids.push_back(own[0]);
        } else if (values_.contains(each.name)) {
            ids.push_back(values_.at(each.name));
            operands.push_back({each.name, step_.graph[ids.back()].type, true});
        } else if (each.name != "inf" && !step.has_indices) {
            fail(step, fmt::format("reads {}, which is no value or tensor here", each.name));
        }
    });
    return operands;
}

ValueId PartBuilder::map(const PartStep& step, ElementType result) {
    std::vector<ValueId> ids;
    const std::vector<MapOperand> operands = operands_of(step, ids);
    const std::string name = node_name(step.name());
    const TermPtr& term = step.term;
    const auto shape_at = [&](size_t i) -> const std::vector<Dim>& { return operands[i].type.shape; };
    const bool are_alike = std::ranges::all_of(operands, [&](const MapOperand& each) {
        return each.is_of_tokens && each.type.shape == shape_at(0) && each.type.element == ElementType::kF32;
    });
    const bool is_flat = are_alike && !operands.empty() && shape_at(0).size() == 2;
    const bool is_of_experts = are_alike && !operands.empty() && shape_at(0).size() == 3;
    const bool is_plain = result == ElementType::kF32;
    if (is_flat && is_plain && term->is_call("+") && operands.size() == 2 && is_name(term->arguments[0]) &&
        is_name(term->arguments[1]))
        return builder_.add(name, ops::add(symbols(), shape_at(0)[0], shape_at(0)[1].factor), ids);
    if (const double cap = cap_in(term); is_flat && is_plain && cap != 0)
        return builder_.add(name, ops::soft_cap(symbols(), shape_at(0)[0], shape_at(0)[1].factor, cap), ids);
    if (const auto f = activation_in(term); f && is_flat)
        return builder_.add(
            name, ops::activated(*f, symbols(), shape_at(0)[0], shape_at(0)[1].factor, result), ids);
    if (term->is_call("*") && operands.size() == 2 && is_name(term->arguments[1])) {
        const auto f = activation_in(term->arguments[0]);
        if (f && is_flat)
            return builder_.add(
                name, ops::gated(*f, symbols(), shape_at(0)[0], shape_at(0)[1].factor, result), ids);
        if (f && is_of_experts && is_plain)
            return builder_.add(name,
                                ops::expert_gated(*f, symbols(), {shape_at(0)[0], 0, shape_at(0)[1].factor},
                                                  shape_at(0)[2].factor),
                                ids);
    }
    return builder_.add(name, mapped(symbols(), term, operands, result, step.where), ids);
}

ValueId PartBuilder::indexed(const PartStep& step) {
    std::vector<ValueId> ids;
    const std::vector<MapOperand> operands = operands_of(step, ids);
    const auto of_tokens = std::ranges::find(operands, true, &MapOperand::is_of_tokens);
    // Numbers of tensors alone are the same for all tokens.
    const Dim& rows = of_tokens == operands.end() ? step_.rows : of_tokens->type.shape.front();
    return builder_.add(
        node_name(step.name()),
        indexed_map(symbols(), step.indices, step.extents, step.term, operands, rows, step.where), ids);
}

}  // namespace tessera::import
