#include <fmt/format.h>

#include "import/part_builder.h"
#include "ir/ops/experts.h"
#include "support/error.h"

namespace tessera::import {

ValueId PartBuilder::top(const PartStep& step) {
    const ValueId scores = argument(step, 0);
    const int64_t experts = shape_of(step, scores, 1)[0];
    const TermPtr& chosen = step.term->arguments[1];
    if (chosen->kind != Term::Kind::kNumber || chosen->number < 1 ||
        chosen->number > static_cast<double>(experts))
        fail(step, fmt::format("chooses {} of {}", print(chosen), experts));
    const ops::ExpertShape shape{rows_of(scores), experts, static_cast<int64_t>(chosen->number)};
    const ValueId ranks = builder_.add(node_name(step.name() + "_ranks"), ops::expert_ranks(symbols(), shape),
                                       {scores, scores});
    return builder_.add(node_name(step.name()), ops::chosen_experts(symbols(), shape), {ranks});
}

/// Y[t, j] = X[t, choice[t, j]].
ValueId PartBuilder::pick(const PartStep& step) {
    const ValueId x = argument(step, 0), choice = argument(step, 1);
    return builder_.add(node_name(step.name()),
                        picked(symbols(), rows_of(x), shape_of(step, x, 1)[0], shape_of(step, choice, 1)[0]),
                        {choice, x});
}

/// Y[t, j, n] = W[choice[t, j], n]: numbers of the chosen experts, as their biases.
ValueId PartBuilder::rows(const PartStep& step) {
    const SpecTensor& own = tensor(step, 0);
    const ValueId choice = argument(step, 1);
    const std::vector<ValueId> table = weight(step.term->arguments[0]->name);
    if (own.shape.size() != 2 || table.size() != 1) fail(step, "reads rows of a tensor without rows");
    const bool is_column = own.matrices > 1 && own.shape[1] == 1;
    return builder_.add(node_name(step.name()),
                        chosen_rows(symbols(), rows_of(choice), shape_of(step, choice, 1)[0],
                                    step_.graph[table[0]].type, is_column ? own.matrices : own.shape[0]),
                        {choice, table[0]});
}

ValueId PartBuilder::experts(const PartStep& step) {
    const ValueId x = argument(step, 0), choice = argument(step, 2);
    const SpecTensor& matrices = tensor(step, 1);
    const int64_t chosen = shape_of(step, choice, 1)[0];
    const std::vector<Dim>& shape = step_.graph[x].type.shape;
    const bool has_own_inputs = shape.size() == 3;
    if (shape.back().factor != matrices.shape.back() || (has_own_inputs && shape[1].factor != chosen))
        fail(step, fmt::format("multiplies inputs of {} by matrices with rows of {}", shape.back().factor,
                               matrices.shape.back()));
    return builder_.add(node_name(step.name()),
                        ops::expert_matmul(symbols(), {rows_of(x), matrices.matrices, chosen},
                                           matrices.shape[0] / matrices.matrices, matrices.shape[1],
                                           matrices.format, has_own_inputs),
                        joined({choice, x}, weight(step.term->arguments[1]->name)));
}

/// A matrix for each place, whatever the token.
ValueId PartBuilder::each(const PartStep& step) {
    const ValueId x = argument(step, 0);
    const SpecTensor& own = tensor(step, 1);
    const std::vector<Dim>& shape = step_.graph[x].type.shape;
    const bool has_own_inputs = shape.size() == 3;
    if (own.shape.size() != 2 || shape.back().factor != own.shape[1] ||
        (has_own_inputs && shape[1].factor != own.matrices))
        fail(step, fmt::format("multiplies inputs of {} by {} matrices with rows of {}", shape.back().factor,
                               own.matrices, own.shape.back()));
    return builder_.add(
        node_name(step.name()),
        ops::matmul_of_each(symbols(), {rows_of(x), 0, own.matrices}, own.shape[0] / own.matrices,
                            own.shape[1], own.format, has_own_inputs),
        joined({x}, weight(step.term->arguments[1]->name)));
}

/// Each token's share of the places, [rows, chosen]: by the softmax of the chosen scores, or of all.
ValueId PartBuilder::shares(const PartStep& step) {
    const ValueId scores = argument(step, 0), choice = argument(step, 1);
    const TermPtr all = step.term->option("all");
    const ops::ExpertShape shape{rows_of(scores), shape_of(step, scores, 1)[0], shape_of(step, choice, 1)[0]};
    const std::string name = node_name(step.name());
    const ValueId largest = builder_.add(name + "_largest", ops::largest_score(symbols(), shape), {scores});
    const ValueId weights =
        builder_.add(name + "_weights", ops::place_weights(symbols(), shape), {choice, scores, largest});
    const bool are_of_all = all && all->is_name("true");
    const ValueId sum =
        are_of_all ? builder_.add(name + "_sum", ops::sum_of_weights(symbols(), shape), {scores, largest})
                   : builder_.add(name + "_sum", ops::sum_of_places(symbols(), shape), {weights});
    return builder_.add(name, ops::place_shares(symbols(), shape), {weights, sum});
}

ValueId PartBuilder::mix(const PartStep& step) {
    const ValueId x = argument(step, 0), share = argument(step, 1);
    const std::vector<int64_t> shape = shape_of(step, x, 2);
    if (shape_of(step, share, 1)[0] != shape[0]) fail(step, "mixes results by others' shares");
    return builder_.add(node_name(step.name()),
                        ops::sum_of_experts(symbols(), {rows_of(x), 0, shape[0]}, shape[1]), {x, share});
}

}  // namespace tessera::import
