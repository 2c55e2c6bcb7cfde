#include "search/egraph/dot.h"

#include <algorithm>

#include <fmt/core.h>

#include "ir/graph_text.h"

namespace tessera::egraph {

std::string dot(const EGraph& graph, const Selection& selected, const std::map<TermId, std::string>& notes) {
    std::string text = "digraph egraph {\n  compound=true\n  node [shape=box, fontname=monospace]\n";
    std::string edges;
    for (const ClassId e_class : graph.classes()) {
        std::string types;
        for (const TensorType& type : graph.facts(e_class).types)
            types += (types.empty() ? "" : ", ") + tessera::print(type);
        text += fmt::format("  subgraph cluster_{} {{\n    style=dashed\n    label={}\n", e_class.index,
                            quoted(types));
        const auto chosen = selected.find(e_class);
        for (const TermId node : graph.nodes(e_class)) {
            const bool is_chosen = chosen != selected.end() && chosen->second == node;
            const auto note = notes.find(node);
            const std::string lines =
                label(graph.op(node)) + (note == notes.end() ? "" : "\n" + note->second);
            text += fmt::format("    n{} [label={}{}]\n", node.index, quoted(lines),
                                is_chosen ? ", style=filled" : "");
            for (const TermId child : graph.term(node).children) {
                const ClassId target = graph.find(child);
                // An edge needs a node at its end; the head is cut off at the border of the class.
                edges += fmt::format("  n{} -> n{} [lhead=cluster_{}]\n", node.index,
                                     graph.nodes(target).front().index, target.index);
            }
        }
        text += "  }\n";
    }
    return text + edges + "}\n";
}

}  // namespace tessera::egraph
