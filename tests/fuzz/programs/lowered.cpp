#include "fuzz/programs/lowered.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "compiler/compiler.h"
#include "compiler/program_limits.h"
#include "compiler/programs/check_indices.h"
#include "lowering/movement/interpret/interpret.h"
#include "lowering/movement/interpreted_plan.h"
#include "lowering/movement/step_memory.h"
#include "lowering/plan/copies.h"
#include "support/error.h"

namespace tessera::fuzz {
namespace {

/// As a whole word.
bool mentions(const std::string& text, const std::string& word) {
    const auto is_part = [&](size_t at) {
        return at < text.size() &&
               (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
    };
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
        if (!is_part(at + word.size()) && (at == 0 || !is_part(at - 1))) return true;
    return false;
}

}  // namespace

Lowered lower(const Program& program, const Treatment& treatment) {
    const Graph graph = parse_graph(print(program.graph), "program.ir");
    verify(graph, "program.ir");
    compiler::expect_program(graph, "program.ir");
    programs::check_indices(
        graph, program.symbols,
        [&](const Value& value, int64_t repetition) {
            return value.kind == ValueKind::kConstant ? constant_of(program, value, repetition)
                                                      : program.inputs.at(value.name);
        },
        "program.ir");
    compiler::CompileOptions options;
    options.machine = treatment.machine;
    options.workers = treatment.workers;
    options.search_effort = program.search_effort;
    CompileReport report;
    compiler::Compiled compiled = compiler::compile_graph(graph, options, report);
    Lowered lowered{.graph = plan::with_copies(compiled.graph, compiled.plan, "program.ir"),
                    .plan = std::move(compiled.plan),
                    .programs = std::move(compiled.programs)};
    lowered.called = testing::specialisation_for(lowered.plan, program.call());
    return lowered;
}

std::string difference_of_outputs(const Program& program, const Lowered& lowered) {
    const auto names = [](const Graph& graph) {
        std::vector<std::string> all;
        for (const ValueId id : graph.outputs) all.push_back(graph[id].name);
        return all;
    };
    const std::vector<std::string> expected = names(program.graph), got = names(lowered.graph);
    if (expected.size() != got.size())
        return fmt::format("there are {} outputs, expected {}", got.size(), expected.size());
    for (size_t o = 0; o < got.size(); ++o)
        if (got[o] != expected[o]) return fmt::format("output {} is named {}", expected[o], got[o]);
    return "";
}

std::string difference_when_interpreted(const Program& program, const Lowered& lowered,
                                        const Expected& expected) {
    const GraphCall call = program.call();
    const testing::StepMemory memory(lowered.graph, lowered.plan, lowered.specialisation(), call);
    const std::vector<movement::RunFault> faults = movement::interpret(
        lowered.programs[lowered.called], memory.memory(), {.order = movement::WorkerOrder::kRandom});
    if (!faults.empty()) return movement::print(faults.front());
    return difference(expected, memory.results());
}

Verdict verdict_of(const Error& error, const Program& program) {
    const std::string text = error.what();
    const Graph& graph = program.graph;
    const bool names_part =
        std::ranges::any_of(graph.values, [&](const Value& value) { return mentions(text, value.name); }) ||
        std::ranges::any_of(graph.blocks.front().nodes,
                            [&](const Node& node) { return mentions(text, node.name); });
    const bool is_ours = text.find("internal error") != std::string::npos || mentions(text, "bug");
    const bool is_clear = names_part && !is_ours && !error.problem.empty();
    return {is_clear ? Outcome::kRefused : Outcome::kUnclear, text};
}

}  // namespace tessera::fuzz
