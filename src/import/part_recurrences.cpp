#include <algorithm>

#include <fmt/format.h>

#include "import/part_builder.h"
#include "import/recurrence_operator.h"
#include "ir/result_type.h"
#include "support/error.h"

// States that go from token to token: one node and one state for each recurrence.

namespace tessera::import {

void PartBuilder::recur(const PartStep& step) {
    add_recurrence(step, step.lines, step.name());
}

void PartBuilder::convolve(const PartStep& step) {
    const std::string& input = step.term->arguments[0]->name;
    const std::string& weight = step.term->arguments[1]->name;
    const SpecTensor& own = tensor(step, 1);
    const int64_t channels = shape_of(step, argument(step, 0), 1)[0];
    if (own.shape.size() != 2 || own.shape[0] != channels)
        fail(step, fmt::format("convolves {} channels of {}, and {} has others", channels, input, weight));
    const std::string bias = part_.tensors.contains(bias_of(weight)) ? bias_of(weight) : std::string();
    const std::string past = step.name() + "_past";
    const std::vector<PartLine> lines =
        convolution_lines({step.name(), input, weight, bias, past}, own.shape[1]);
    if (own.shape[1] > 1) return add_recurrence(step, lines, past);
    PartStep alone = step;
    alone.indices = lines.front().indices;
    alone.has_indices = true;
    alone.term = lines.front().term;
    finish(step.name(), indexed(alone));
}

/// `node`: the name of its state.
void PartBuilder::add_recurrence(const PartStep& step, const std::vector<PartLine>& lines,
                                 const std::string& node) {
    PartStep all = step;
    all.has_indices = true;
    std::vector<TermPtr> terms;
    for (const PartLine& line : lines) {
        terms.push_back(line.term);
        all.indices.insert(all.indices.end(), line.indices.begin(), line.indices.end());
    }
    all.term = list_term(std::move(terms));
    const StepInputs& inputs = step_.inputs;
    std::vector<ValueId> ids = {inputs.first, inputs.length, inputs.start, step_.seat()}, read;
    const std::vector<MapOperand> operands = operands_of(all, read);
    ids.insert(ids.end(), read.begin(), read.end());
    const auto of_tokens = std::ranges::find(operands, true, &MapOperand::is_of_tokens);
    if (of_tokens == operands.end()) fail(step, "reads no value of a token");
    if (of_tokens->type.shape.front() != step_.rows)
        fail(step, "is computed behind the layers, where not all tokens are");
    const DefinitionPtr op =
        recurrence(symbols(), lines, operands, step_.rows, step_.spec.policy != Policy::kExact, step.where);
    const int carried = op->results().front();
    const ValueId state = step_.value(
        {.name = node_name(node), .kind = ValueKind::kState, .type = type_of(*op, carried, step.where)});
    std::vector<std::string> names;
    for (const PartLine& line : lines)
        if (!line.is_carried) names.push_back(line.name);
    std::vector<std::string> nodes;
    for (const std::string& name : names) nodes.push_back(node_name(name));
    const std::vector<ValueId> made = builder_.carry(node_name(node) + "_update", op, ids, state, nodes);
    for (size_t i = 0; i < made.size(); ++i) finish(names[i], made[i]);
}

}  // namespace tessera::import
