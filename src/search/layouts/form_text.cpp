#include "search/layouts/form_text.h"

#include <fmt/core.h>

namespace tessera::layouts {

std::string form_text(const egraph::EGraph& graph, egraph::TermId term) {
    std::string text = label(graph.op(term));
    const std::vector<egraph::TermId>& children = graph.term(term).children;
    for (size_t i = 0; i < children.size(); ++i)
        text += (i == 0 ? "(" : ", ") + print(graph.facts(children[i]).types.front().layout);
    return fmt::format("{}{} -> {}", text, children.empty() ? "" : ")",
                       print(graph.op(term).results.front().layout));
}

}  // namespace tessera::layouts
