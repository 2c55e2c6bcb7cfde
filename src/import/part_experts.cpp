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
