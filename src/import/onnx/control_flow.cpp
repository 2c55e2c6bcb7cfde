// Bodies run when the model is imported: a compiler of static graphs has no jumps. A Loop whose count and
// condition are known is its body over and over, with what is carried from turn to turn:
//
//     Loop(3, true, a) { b = f(a) }     f(f(f(a)))
//
// A Scan is a Loop that takes a slice of its inputs in each turn. In old versions it has a batch, too.
#include "import/onnx/control_flow.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <variant>

#include <fmt/format.h>

#include "import/onnx/primitives.h"
#include "support/error.h"

namespace tessera::import::onnx {
namespace {

using Results = std::vector<Operand>;

constexpr int64_t kMostTurns = 10'000;

const GraphText& body_of(const Call& call, const char* name) {
    const Attribute* body = call.attribute(name);
    if (!body || !body->graph) call.refuse(fmt::format("lacks its graph {}", name));
    return *body->graph;
}

bool holds(const Operand& condition) {
    return numbers_of(condition).at(0) != 0;
}

Operand condition_of(const Call& call, size_t input) {
    const Operand& condition = call.in(input);
    call.expect(condition.is_static() && condition.elements() == 1, "has a condition of several elements");
    return condition;
}

Results branch(const Call& call, const RunBody& run) {
    const Operand condition = condition_of(call, 0);
    const GraphText &then_branch = body_of(call, "then_branch"), &else_branch = body_of(call, "else_branch");
    if (condition.known) return run(holds(condition) ? then_branch : else_branch, {});
    // Both are computed, and the condition chooses among their results.
    const Results yes = run(then_branch, {}), no = run(else_branch, {});
    call.expect(yes.size() == no.size(), "has branches of different numbers of results");
    Results results;
    for (size_t i = 0; i < yes.size(); ++i) {
        if (yes[i].shape != no[i].shape || yes[i].type != no[i].type)
            call.refuse(
                "has a condition that is not known when the model is compiled, and branches whose results "
                "have different shapes or types",
                "state the input that decides it by --constant NAME=VALUE");
        results.push_back(elementwise(call, {call.build.with_shape(condition, {}), yes[i], no[i]},
                                      "select(A != 0, B, C)", yes[i].type));
    }
    return results;
}

/// The results of all turns, behind each other along a new axis. `stated` is the body's result, by which the
/// shape is known where there is no turn.
Operand stacked(const Call& call, Results turns, size_t axis, const ValueInfo& stated) {
    if (turns.empty()) {
        const bool is_known = element_of(stated.type) && stated.shape &&
                              std::ranges::all_of(*stated.shape, [](const auto& extent) {
                                  return std::holds_alternative<int64_t>(extent);
                              });
        if (!is_known)
            call.refuse(
                fmt::format("runs never, and does not state the shape of its result `{}`", stated.name));
        std::vector<int64_t> shape;
        for (const auto& extent : *stated.shape) shape.push_back(std::get<int64_t>(extent));
        call.expect(axis <= shape.size(), "stacks its results along no axis of theirs");
        shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), 0);
        return known_numbers(stated.type, shape, {});
    }
    std::vector<Dim> shape = turns.front().shape;
    for (const Operand& turn : turns)
        if (turn.shape != shape || turn.type != turns.front().type)
            call.refuse(fmt::format("has results `{}` of different shapes or types", stated.name));
    call.expect(axis <= shape.size(), "stacks its results along no axis of theirs");
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), Dim(1));
    for (Operand& turn : turns) turn = call.build.with_shape(turn, shape);
    return concat(call, turns, axis);
}

Results loop(const Call& call, const RunBody& run) {
    const GraphText& body = body_of(call, "body");
    const bool has_condition = call.has(1);
    std::optional<int64_t> count;
    if (call.has(0)) count = call.known_integer(0);
    if (has_condition && !condition_of(call, 1).known)
        call.refuse("has a condition that is not known when the model is compiled");
    if (!count && !has_condition) call.refuse("never ends");
    Results results;
    for (size_t i = 2; i < call.inputs(); ++i) results.push_back(call.in(i));
    const size_t carried = results.size();
    call.expect(body.inputs.size() == carried + 2 && body.outputs.size() > carried,
                "has a body of other inputs or outputs");
    std::vector<Results> made(body.outputs.size() - 1 - carried);
    Operand condition = has_condition ? call.in(1) : known_scalar(DataType::kBool, 1);
    for (int64_t turn = 0; (!count || turn < *count) && holds(condition); ++turn) {
        call.expect(turn < kMostTurns, fmt::format("runs more than {} times", kMostTurns));
        Results inputs = {known_int64({}, {turn}), condition};
        inputs.insert(inputs.end(), results.begin(), results.end());
        const Results outputs = run(body, inputs);
        if (has_condition) condition = outputs.front();
        if (!condition.known || condition.elements() != 1)
            call.refuse(fmt::format("has a condition that follows from data after turn {}", turn));
        for (size_t i = 0; i < carried; ++i) results[i] = outputs[1 + i];
        for (size_t i = 0; i < made.size(); ++i) made[i].push_back(outputs[1 + carried + i]);
    }
    for (size_t i = 0; i < made.size(); ++i)
        results.push_back(stacked(call, made[i], 0, body.outputs[1 + carried + i]));
    return results;
}

/// One element of an axis, which vanishes.
Operand taken(const Call& call, const Operand& x, size_t axis, int64_t at) {
    std::vector<Dim> shape = x.shape;
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
    return call.build.with_shape(slice(call, x, {number_range(axis, at, 1, 1)}), shape);
}

int64_t number_at(const std::vector<int64_t>& numbers, size_t at) {
    return at < numbers.size() ? numbers[at] : 0;
}

/// The turns of a Scan over operands without a batch.
Results scanned(const Call& call, const RunBody& run, const GraphText& body, Results states,
                const Results& sequences) {
    const std::vector<int64_t> axes = call.integers("scan_input_axes"),
                               directions =
                                   call.integers(call.opset() < 9 ? "directions" : "scan_input_directions"),
                               result_axes = call.integers("scan_output_axes"),
                               result_directions = call.integers("scan_output_directions");
    call.expect(!sequences.empty() && body.inputs.size() == states.size() + sequences.size() &&
                    body.outputs.size() >= states.size(),
                "has a body of other inputs or outputs");
    std::optional<int64_t> count;
    std::vector<size_t> along;
    for (size_t i = 0; i < sequences.size(); ++i) {
        along.push_back(call.axis(number_at(axes, i), sequences[i].rank()));
        const int64_t extent = call.extent(sequences[i], along.back());
        call.expect(!count || *count == extent, "scans inputs of different lengths");
        count = extent;
    }
    call.expect(*count <= kMostTurns, fmt::format("runs more than {} times", kMostTurns));
    const size_t carried = states.size();
    std::vector<Results> made(body.outputs.size() - carried);
    for (int64_t turn = 0; turn < *count; ++turn) {
        Results inputs = states;
        for (size_t i = 0; i < sequences.size(); ++i)
            inputs.push_back(taken(call, sequences[i], along[i],
                                   number_at(directions, i) != 0 ? *count - 1 - turn : turn));
        const Results outputs = run(body, inputs);
        for (size_t i = 0; i < carried; ++i) states[i] = outputs[i];
        for (size_t i = 0; i < made.size(); ++i) made[i].push_back(outputs[carried + i]);
    }
    Results results = states;
    for (size_t i = 0; i < made.size(); ++i) {
        if (number_at(result_directions, i) != 0) std::ranges::reverse(made[i]);
        const ValueInfo& stated = body.outputs[carried + i];
        const size_t stated_rank = stated.shape ? stated.shape->size() : 0;
        const size_t rank = made[i].empty() ? stated_rank : made[i].front().rank();
        results.push_back(stacked(call, made[i], call.axis(number_at(result_axes, i), rank + 1), stated));
    }
    return results;
}

Results scan(const Call& call, const RunBody& run) {
    const GraphText& body = body_of(call, "body");
    const bool has_batch = call.opset() < 9;
    Results inputs;
    for (size_t i = has_batch ? 1 : 0; i < call.inputs(); ++i) inputs.push_back(call.in(i));
    if (has_batch && call.has(0)) call.refuse("has lengths of sequences, which is not supported");
    const int64_t sequences = call.integer("num_scan_inputs", 0);
    call.expect(sequences > 0 && sequences <= static_cast<int64_t>(inputs.size()),
                fmt::format("scans {} of {} inputs", sequences, inputs.size()));
    const auto cut = inputs.end() - sequences;
    if (!has_batch) return scanned(call, run, body, {inputs.begin(), cut}, {cut, inputs.end()});
    for (const Operand& input : inputs) call.expect(input.rank() > 0, "has an input without a batch");
    const int64_t batch = call.extent(inputs.front(), 0);
    call.expect(batch > 0 && batch <= kMostTurns, fmt::format("has a batch of {}", batch));
    for (const Operand& input : inputs)
        call.expect(input.shape[0] == Dim(batch), "has inputs of different batches");
    std::vector<Results> of_elements;
    for (int64_t element = 0; element < batch; ++element) {
        Results own;
        for (const Operand& input : inputs) own.push_back(taken(call, input, 0, element));
        const auto own_cut = own.end() - sequences;
        of_elements.push_back(scanned(call, run, body, {own.begin(), own_cut}, {own_cut, own.end()}));
    }
    Results results;
    for (size_t i = 0; i < of_elements.front().size(); ++i) {
        Results own;
        for (const Results& each : of_elements) own.push_back(each[i]);
        results.push_back(stacked(call, own, 0, body.outputs[i]));
    }
    return results;
}

struct Kind {
    std::string_view name;
    Results (*import)(const Call&, const RunBody&);
};
constexpr std::array kKinds = {Kind{"If", branch}, Kind{"Loop", loop}, Kind{"Scan", scan}};

const Kind* find_kind(const std::string& op) {
    const auto* found = std::ranges::find(kKinds, op, &Kind::name);
    return found == kKinds.end() ? nullptr : found;
}

}  // namespace

bool is_control_flow(const NodeText& node) {
    return node.domain.empty() && find_kind(node.op_type);
}

std::vector<Operand> control_flow(const Call& call, const RunBody& run) {
    const Kind* kind = find_kind(call.op());
    TESSERA_CHECK(kind, "{}", call.op());
    return kind->import(call, run);
}

}  // namespace tessera::import::onnx
