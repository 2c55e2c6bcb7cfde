#include "fuzz/programs/draw_program.h"

#include <algorithm>
#include <set>

#include "fuzz/programs/draft.h"
#include "fuzz/programs/names.h"
#include "support/error.h"

namespace tessera::fuzz {
namespace {

constexpr int64_t kMostNodes = 11;
constexpr int kMostTries = 200;
constexpr size_t kMostOutputs = 4;

std::vector<NamedFamily> all_families() {
    std::vector<NamedFamily> all;
    for (const auto* families :
         {&movement_families(), &arithmetic_families(), &folding_families(), &indexed_families()})
        all.insert(all.end(), families->begin(), families->end());
    return all;
}

const NamedFamily& draw_family(Choices& choices, const std::vector<NamedFamily>& families) {
    int64_t total = 0;
    for (const NamedFamily& family : families) total += family.weight;
    int64_t at = choices.below(total);
    for (const NamedFamily& family : families) {
        if (at < family.weight) return family;
        at -= family.weight;
    }
    return families.back();
}

/// A result that an array can hold.
bool has_output(const Graph& graph) {
    for (const Node& node : graph.blocks.front().nodes)
        for (const ValueId made : node.results)
            if (bits(graph[made].type.element) >= 8) return true;
    return false;
}

/// Values that nothing reads are outputs, and so are some of the others.
void choose_outputs(Choices& choices, Graph& graph) {
    std::set<ValueId> needed;
    for (const Node& node : graph.blocks.front().nodes) {
        needed.insert(node.operands.begin(), node.operands.end());
        if (node.previous) needed.insert(*node.previous);
    }
    std::vector<ValueId> ends, others;
    std::set<ValueId> states;
    for (const StateUpdate& update : graph.blocks.front().states) states.insert(update.after);
    for (const Node& node : graph.blocks.front().nodes)
        for (const ValueId made : node.results)
            if (bits(graph[made].type.element) >= 8)
                (needed.contains(made) || states.contains(made) ? others : ends).push_back(made);
    std::reverse(ends.begin(), ends.end());
    for (const ValueId end : ends)
        if (graph.outputs.size() < kMostOutputs) graph.outputs.push_back(end);
    for (const ValueId other : others)
        if (graph.outputs.size() < kMostOutputs && (graph.outputs.empty() || choices.chance(20)))
            graph.outputs.push_back(other);
    if (choices.chance(30)) std::reverse(graph.outputs.begin(), graph.outputs.end());
}

}  // namespace

void drop_unused(Program& program) {
    Graph& graph = program.graph;
    Block& block = graph.blocks.front();
    std::set<ValueId> needed(graph.outputs.begin(), graph.outputs.end());
    for (const StateUpdate& update : block.states) {
        needed.insert(update.before);
        needed.insert(update.after);
    }
    std::vector<Node> nodes;
    std::vector<std::string> kinds;
    for (size_t n = block.nodes.size(); n-- > 0;) {
        const Node& node = block.nodes[n];
        if (std::ranges::none_of(node.results, [&](ValueId made) { return needed.contains(made); })) continue;
        needed.insert(node.results.begin(), node.results.end());
        needed.insert(node.operands.begin(), node.operands.end());
        if (node.previous) needed.insert(*node.previous);
        nodes.insert(nodes.begin(), node);
        kinds.insert(kinds.begin(), program.kinds[n]);
    }
    block.nodes = std::move(nodes);
    program.kinds = std::move(kinds);
    std::set<ValueId> unused;
    for (size_t i = 0; i < graph.values.size(); ++i) {
        const ValueId id{static_cast<int>(i)};
        if (needed.contains(id)) continue;
        unused.insert(id);
        program.inputs.erase(graph[id].name);
        program.states.erase(graph[id].name);
        for (const std::string& source : graph[id].sources) program.constants.erase(source);
    }
    drop_values(graph, unused);
}

Program draw_program(Choices& choices) {
    static const std::vector<NamedFamily> kFamilies = all_families();
    Draft draft(choices);
    const int64_t nodes = choices.between(2, kMostNodes);
    const auto is_complete = [&] {
        return std::ssize(draft.program.kinds) >= nodes && has_output(draft.program.graph);
    };
    for (int tries = 0; tries < kMostTries && !is_complete(); ++tries) {
        const NamedFamily& family = draw_family(choices, kFamilies);
        draft.kind = family.name;
        family.add(draft);
    }
    if (!has_output(draft.program.graph))
        throw Error("a drawn program", "", "has no results", "its choices refuse every node");
    choose_outputs(choices, draft.program.graph);
    drop_unused(draft.program);
    give_names(choices, draft.program);
    draft.program.search_effort = choices.chance(20) ? 0 : 1;
    verify(draft.program.graph, "a drawn program");
    return std::move(draft.program);
}

}  // namespace tessera::fuzz
