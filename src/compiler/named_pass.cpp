#include "compiler/named_pass.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <string>

#include "compiler/compiler.h"
#include "compiler/operator_cost.h"
#include "compiler/planner_options.h"
#include "ir/ops/decompose.h"
#include "search/layouts/lay_out.h"
#include "search/rules/compose_maps.h"
#include "search/rules/pad_operands.h"
#include "search/rules/rewrite.h"

namespace tessera::compiler {
namespace {

std::string run_verify(const Graph& graph, const machine::Machine&) {
    verify(graph, graph.name);
    return print(graph);
}

std::string run_decompose(const Graph& graph, const machine::Machine&) {
    const Graph result = ops::decompose(graph);
    verify(result, graph.name);
    return print(result);
}

std::string run_pad_operands(const Graph& graph, const machine::Machine&) {
    verify(graph, graph.name);
    const Graph result = rules::with_padded_operands(graph).value_or(graph);
    verify(result, graph.name);
    return print(result);
}

std::string run_compose_maps(const Graph& graph, const machine::Machine&) {
    verify(graph, graph.name);
    const Graph result = rules::with_composed_maps(graph).value_or(graph);
    verify(result, graph.name);
    return print(result);
}

std::string run_rewrite(const Graph& graph, const machine::Machine& machine) {
    verify(graph, graph.name);
    const rules::Rewritten result =
        rules::rewrite(graph, {.cost = operator_cost(graph, machine, std::nullopt)});
    verify(result.graph, graph.name);
    return print(result.graph);
}

/// The search uses the costs of compiling for a measured machine, the potential of its units for another.
std::string run_layouts(const Graph& graph, const machine::Machine& machine) {
    const Graph whole = ops::decompose(graph);
    verify(whole, graph.name);
    const auto [planner, initial] = planning_start(whole, machine, std::nullopt, 1);
    const layouts::Search search = layouts::search_layouts(
        whole, initial,
        planner.costs->is_measured() ? layouts::compiling_options(whole, initial, planner)
                                     : layouts::describing_options(whole, initial, planner, machine));
    std::string comments;
    std::istringstream lines(print(search));
    for (std::string line; std::getline(lines, line);) comments += line.empty() ? "#\n" : "# " + line + '\n';
    return plan::print(layouts::decision_of(whole, initial, search)) + '\n' + comments;
}

Compiled compiled(const Graph& graph, const machine::Machine& machine) {
    CompileOptions options;
    options.machine = machine;
    CompileReport report;
    return compile_graph(graph, options, report);
}

std::string run_plan(const Graph& graph, const machine::Machine& machine) {
    return plan::print(compiled(graph, machine).plan);
}

std::string run_lower(const Graph& graph, const machine::Machine& machine) {
    std::string text;
    for (const movement::Program& program : compiled(graph, machine).programs)
        text += movement::print(program);
    return text;
}

std::string run_emit(const Graph& graph, const machine::Machine& machine) {
    return compiled(graph, machine).code.text;
}

}  // namespace

std::span<const NamedPass> named_passes() {
    static constexpr std::array kPasses = {
        NamedPass{"verify", "types, names, order; prints the graph", run_verify},
        NamedPass{"decompose", "composites become structured operators", run_decompose},
        NamedPass{"pad-operands", "folds that read outside of an operand read a copy with a border",
                  run_pad_operands},
        NamedPass{"compose-maps",
                  "element by element operators that only one other reads become a part of it",
                  run_compose_maps},
        NamedPass{"rewrite", "the cheapest graph that the algebra proves equal", run_rewrite},
        NamedPass{"layouts", "how its tensors lie on the machine (TOML), and what else was possible",
                  run_layouts},
        NamedPass{"plan", "the default planner's plan (TOML)", run_plan},
        NamedPass{"lower", "loops, addresses and micro-kernel calls under that plan", run_lower},
        NamedPass{"emit", "the C++ of that plan", run_emit},
    };
    return kPasses;
}

const NamedPass* find_named_pass(std::string_view name) {
    const auto all = named_passes();
    const auto at = std::find_if(all.begin(), all.end(), [&](const NamedPass& p) { return p.name == name; });
    return at == all.end() ? nullptr : &*at;
}

}  // namespace tessera::compiler
