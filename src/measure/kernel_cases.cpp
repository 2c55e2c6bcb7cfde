#include "measure/kernel_cases.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include "compiler/planner_options.h"
#include "movement/lower.h"
#include "ops/block_builder.h"
#include "ops/define.h"
#include "ops/matmul.h"
#include "plan/constants.h"
#include "planner/leaf_choice.h"
#include "planner/place_buffers.h"
#include "planner/verify_plan.h"
#include "support/error.h"

namespace tessera {
namespace {

constexpr int64_t kDepth = 1024;  ///< of a product: a multiple of every format's block
constexpr int64_t kWidth = 128;   ///< of a value in attention

struct WeightCase {
    ops::WeightFormat format;
    ops::Activation input;
    std::string_view input_name;
};

/// Weights also with activations that are rounded as they are, which dot products need.
std::vector<WeightCase> weights() {
    using enum ops::WeightFormat;
    const ops::Activation f32, bf16{ElementType::kBF16};
    return {{kF32, f32, "f32"},
            {kF16, f32, "f32"},
            {kBF16, f32, "f32"},
            {kBF16, bf16, "bf16"},
            {kQ8_0, f32, "f32"},
            {kQ8_0, ops::kInt16Blocks, "i16"},
            {kQ4_0, f32, "f32"},
            {kQ4_0, ops::kInt16Blocks, "i16"},
            {kQ4_0, ops::kInt8Blocks, "i8"}};
}

int64_t resident_bytes(const Machine& machine) {
    const MemoryLevel& near = machine.memory[std::min<size_t>(1, machine.memory.size() - 1)];
    return near.capacity_bytes / near.shared_by_cores / 2;
}

ValueId add_value(Graph& graph, const std::string& name, ValueKind kind, ElementType type,
                  const std::vector<int64_t>& shape) {
    TensorType tensor{.element = type, .shape = {}, .layout = {}};
    for (const int64_t extent : shape) tensor.shape.emplace_back(extent);
    std::vector<std::string> sources;
    if (kind == ValueKind::kConstant) sources.push_back(name);
    graph.values.push_back({name, kind, std::move(tensor), std::move(sources)});
    return {static_cast<int>(graph.values.size()) - 1};
}

std::string lower_case(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return result;
}

KernelSubject product(const WeightCase& weight, int64_t rows, int64_t columns) {
    const ops::WeightFormatInfo& format = ops::info(weight.format);
    KernelSubject subject{
        .graph = {},
        .types = {{"A", std::string(weight.input_name)}, {"B", lower_case(format.name)}, {"C", "f32"}},
        .sizes = {{"m", rows}, {"n", columns}, {"k", kDepth}},
        .streamed = "n"};
    Graph& graph = subject.graph;
    graph.name = "product";
    std::vector<ValueId> operands;
    for (int term = 0; term < weight.input.terms; ++term)
        operands.push_back(add_value(graph, term == 0 ? "x" : "x_low", ValueKind::kInput,
                                     weight.input.element, {rows, kDepth}));
    if (weight.input.block > 1)
        operands.push_back(add_value(graph, "x_scale", ValueKind::kInput, ElementType::kF32,
                                     {rows, kDepth / weight.input.block}));
    for (const ops::WeightOperand& part : format.operands)
        operands.push_back(add_value(graph, fmt::format("w_{}", part.name), ValueKind::kConstant, part.type,
                                     {columns, kDepth / part.block}));
    graph.blocks.push_back({.name = "main"});
    ops::BlockBuilder block(graph, graph.blocks[0]);
    graph.outputs = {block.add(
        "y", ops::matmul({}, {Dim(rows), columns, kDepth}, weight.format, std::nullopt, weight.input),
        operands)};
    return subject;
}

KernelSubject attention(int64_t rows, int64_t positions) {
    KernelSubject subject{.graph = {},
                          .types = {{"A", "f32"}, {"B", "f32"}, {"C", "f32"}},
                          .sizes = {{"m", rows}, {"d", kWidth}, {"s", positions}},
                          .streamed = "d"};
    Graph& graph = subject.graph;
    graph.name = "attention";
    const std::vector<ValueId> operands = {
        add_value(graph, "p", ValueKind::kInput, ElementType::kF32, {rows, positions}),
        add_value(graph, "v", ValueKind::kConstant, ElementType::kF32, {positions, kWidth})};
    graph.blocks.push_back({.name = "main"});
    ops::BlockBuilder block(graph, graph.blocks[0]);
    graph.outputs =
        block.add_all("y",
                      ops::define({}, fmt::format("op attend(t: {}, d: {}, s*: {})\n"
                                                  "in P f32[t, s], V f32[s, d]\n"
                                                  "out M f32[t], L f32[t], A f32[t, d] = softmax_sum(P, V)\n",
                                                  rows, kWidth, positions)),
                      operands);
    return subject;
}

std::map<std::string, int64_t> numbers(const std::map<std::string, std::string>& parameters) {
    std::map<std::string, int64_t> result;
    for (const auto& [name, text] : parameters) {
        int64_t value = 0;
        const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
        if (read.ec == std::errc() && read.ptr == text.data() + text.size()) result[name] = value;
    }
    return result;
}

/// Candidates of narrower vectors are for edges, and those that take A for the weight for other operators.
bool is_wanted(const Leaf& leaf, const KernelSubject& subject, const Machine& machine) {
    const auto lanes = leaf.parameters.find("lanes");
    if (lanes == leaf.parameters.end() || lanes->second != std::to_string(vector_lanes(machine)))
        return false;
    for (const char* rows_of_b : {"n", "d"})
        if (const auto found = leaf.parameters.find(rows_of_b);
            found != leaf.parameters.end() && found->second != subject.streamed)
            return false;
    return true;
}

/// The plan of one kernel without loops, or nothing where its lanes do not fit how the weight is stored.
std::optional<KernelCase> lowered(size_t number, const Graph& graph, Plan plan, const Leaf& leaf) {
    SpecialisationPlan& specialisation = plan.specialisations.front();
    specialisation.kernels.front().nest = {{}, {leaf}};
    try {
        plan = place_buffers(graph, std::move(plan));
        verify_plan(graph, plan, "measuring");
        const ConstantSection constants = constant_section(graph, plan);
        return KernelCase{.subject = number,
                          .micro_kernel = leaf.micro_kernel,
                          .parameters = numbers(leaf.parameters),
                          .program = lower(graph, plan, plan.specialisations.front(), constants),
                          .constants_bytes = constants.bytes,
                          .arena_bytes = plan.specialisations.front().arena_bytes};
    } catch (const Error&) {
        return std::nullopt;
    }
}

}  // namespace

std::vector<KernelSubject> kernel_subjects(const Machine& machine) {
    std::vector<KernelSubject> subjects;
    const int64_t panel = 8 * vector_lanes(machine);
    const int64_t columns = std::max<int64_t>(1, resident_bytes(machine) / (kDepth * 4) / panel) * panel;
    for (const WeightCase& weight : weights())
        for (const int64_t rows : {1, 4, 12}) subjects.push_back(product(weight, rows, columns));
    const int64_t positions = std::max<int64_t>(1, resident_bytes(machine) / (kWidth * 4) / 16) * 16;
    for (const int64_t rows : {1, 4}) subjects.push_back(attention(rows, positions));
    return subjects;
}

std::vector<KernelCase> kernel_cases(const std::vector<KernelSubject>& subjects, const Machine& machine) {
    const PlannerOptions options = planner_options(machine, 1);
    std::vector<KernelCase> cases;
    for (size_t i = 0; i < subjects.size(); ++i) {
        const Graph& graph = subjects[i].graph;
        verify(graph, graph.name);
        Plan plan = default_plan(graph, options);
        Plan row_major = plan;
        row_major.stored.clear();
        std::set<std::pair<std::string, std::map<std::string, int64_t>>> seen;
        for (const Leaf& leaf :
             leaf_candidates(graph.blocks[0].nodes[0], plan.specialisations.front(), options)) {
            if (!is_wanted(leaf, subjects[i], machine) ||
                seen.contains({leaf.micro_kernel, numbers(leaf.parameters)}))
                continue;
            for (const Plan* stored : {&plan, &row_major}) {
                auto found = lowered(i, graph, *stored, leaf);
                if (!found) continue;
                seen.insert({found->micro_kernel, found->parameters});
                found->program.specialisation = fmt::format("case_{}", cases.size());
                cases.push_back(std::move(*found));
                break;
            }
        }
    }
    return cases;
}

}  // namespace tessera
